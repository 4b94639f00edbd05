import BatchConfiguration
import BatchFoundation
import EngageRules
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

extension PresetTests {
  /// Who refused tracking is nobody: neither one device nor one person.
  @Test(arguments: [
    "segment", "mparticle", "ga4", "amplitude", "mixpanel", "snowplow", "airship", "onesignal", "fcm", "apns",
  ])
  func idsOfZerosAreNoDevice(preset name: String) throws {
    let map = try preset(name)
    for line in try records(of: map) {
      let ids = outcomes(of: map, [line]).flatMap { line in
        ["deviceId", "mobileUserId"].compactMap { JSONNode.text(of: $0, in: line) }
      }
      var zeros = line
      for id in ids { zeros = zeros.replacing("\"\(id)\"", with: "\"\(Self.nobody)\"") }
      for line in outcomes(of: map, [zeros]) {
        #expect(JSONNode.text(of: "deviceId", in: line) != Self.nobody)
        #expect(JSONNode.text(of: "mobileUserId", in: line) != Self.nobody)
      }
    }
  }

  @Test func segmentLinesAreCanonical() throws {
    let records = try Checkout.text("samples/maps/segment.ndjson").split(separator: "\n").map(String.init)
    let lines = outcomes(of: try preset("segment"), records)
    #expect(
      lines[1]
        == #"{"deviceId":"B5372DB0-C21E-11E4-8DFC-AA07A5B093DB","params":{"action":"Accept"},"payload":{"CurrentCampaign":"Winter sale","aps":{"alert":"Everything must go"}},"recordId":"m-2","timestamp":"2026-01-15T08:00:30.000Z","type":"notificationOpened"}"#
    )
    #expect(
      lines[4]
        == #"{"deviceId":"B5372DB0-C21E-11E4-8DFC-AA07A5B093DB","mobileUserId":"user-7","name":"Order Completed","params":{"order_id":"o-1","revenue":25.5},"recordId":"m-5","timestamp":"2026-01-15T08:03:00.000Z","type":"goalCompleted"}"#
    )
  }

  @Test func membersThatAreReadByTheirBeginningAreRead() throws {
    let map = try read(#"{"fields": {"deviceId": "a_*.d", "name": "b.*"}}"#).map
    #expect(
      map.unreadMembers(of: Array(#"{"a_1": {"d": 1, "e": 2}, "a": {"d": 1}, "b": {"c": 3}}"#.utf8)) == [
        "a_1.e", "a.d",
      ])
  }

  @Test func aMapThatTakesAllOthersReadsAll() throws {
    let map = try read(
      #"{"form": "json", "fields": {"deviceId": "d"}, "rules": [{"type": {"constant": "namedEvent"}, "fields": {"params": {"others": "$"}}}]}"#
    ).map
    #expect(map.unreadMembers(of: Array(#"{"d": 1, "e": {"f": 2}}"#.utf8)).isEmpty)
  }

  @Test func aListOfLinksIsReadByAMapThatSaysWhose() throws {
    let map = try read(Checkout.text("samples/maps/links.json")).map
    let links = try Checkout.text("samples/maps/links.txt").split(separator: "\n").map(String.init)
    #expect(
      outcomes(of: map, links)[0]
        == #"{"deviceId":"link-check","timestamp":"2026-01-15T08:00:00.000Z","url":"https://shop.example/sale?CurrentCampaign=Winter"}"#
    )
  }

  /// Rows are the same records as the objects that the analytics SDKs make of them.
  @Test func snowplowsRowsAreItsObjects() throws {
    let (rows, objects) = (try preset("snowplow-tsv"), try preset("snowplow"))
    let lines = outcomes(of: rows, try records(of: rows))
    #expect(lines == outcomes(of: objects, try records(of: objects)))
    #expect(
      lines[5]
        == #"{"device":{"appName":"shop","appVersion":"5.0.0","name":"iPhone16,2","osName":"ios","osVersion":"18.1","version":"iPhone16,2"},"deviceId":"5d79770b-015b-4af8-8c91-b2ed6faf4b1e","mobileUserId":"user-7","name":"basket_filled","params":{"items":3,"total.amount":25.5,"total.currency":"GBP"},"recordId":"00000006-5d79-4b1e-8c91-b2ed6faf4b1e","timestamp":"2026-01-15T15:03:00.000Z","type":"namedEvent"}"#
    )
    #expect(lines[6].contains(#""params":{"category":"shop","label":"\"Large\" one","value":2.5}"#))
  }
}
