import BatchFoundation
import BatchSandbox
import FoundationEssentials
import TestSupport
import Testing

/// People are found by any id, recorded or hashed, and all that is known of one can be written out.
@Suite("Person") struct PersonTests {
  private static let records = """
    {"deviceId":"ada-phone-0001","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"ada-lovelace-7"}
    {"deviceId":"ada-phone-0001","timestamp":"2026-01-15T08:01:00Z","type":"identify","ids":{"customer_id":"customer-ada"}}
    {"deviceId":"ada-tablet-0001","timestamp":"2026-01-15T09:00:00Z","type":"launch","mobileUserId":"ada-lovelace-7"}
    {"deviceId":"bob-phone-0001","timestamp":"2026-01-15T08:02:00Z","type":"launch","mobileUserId":"bob-7"}
    {"deviceId":"bob-phone-0001","timestamp":"2026-01-15T08:03:00Z","type":"namedEvent","name":"n","params":{"friend":"ada-lovelace-7"}}
    {"deviceId":"ada-phone-0001","timestamp":"2026-01-15T25:00:00Z","type":"launch"}

    """

  private func workspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.write("in/a.ndjson", Self.records)
    try workspace.write(
      "job.json",
      """
      {"name": "j", "configuration": ["configs/EngageConfig.plist"], "inputs": {"events": ["in/*.ndjson"]},
       "settings": {"AuditRecord": {"auditRecordListId": "50002"}},
       "identity": true, "asOf": "2026-01-16T00:00:00Z", "store": "var/j.sqlite", "reports": "reports"}
      """)
    let run = try workspace.run("run", "job.json", "--sandbox", "--store", "var/j.sqlite")
    #expect(run.code == 0, "\(run.messages)")
    return workspace
  }

  @Test("All devices of a person answer, by a mobile user id or an id of identity, recorded or hashed")
  func devices() throws {
    let workspace = try workspace()
    let store = ["--store", "var/j.sqlite"]
    func devices(_ arguments: [String]) throws -> [String?] {
      let finished = try workspace.run(arguments + store + ["--format", "json", "--show-personal-data"])
      #expect(finished.code == 0, "\(finished.messages)")
      return try JSONNode.parse(Array(finished.output.utf8)).array?.map { $0["device"]?.string } ?? []
    }
    #expect(try devices(["store", "sessions", "--person", "ada-lovelace-7"]) == ["ada-phone-0001", "ada-tablet-0001"])
    #expect(try devices(["store", "sessions", "--person", "ada-lovelace-7", "--limit", "1"]) == ["ada-phone-0001"])
    #expect(try devices(["why", "--person", "ada-lovelace-7"]) == ["ada-phone-0001", "ada-tablet-0001"])
    #expect(try devices(["why", "--person", "customer-ada"]) == ["ada-phone-0001"])
    let export = try workspace.run(["identity", "export", "--format", "json"] + store).output
    let hashes = try JSONNode.parse(Array(export.utf8)).array?.compactMap { $0["mobileUserId"]?.string } ?? []
    let hash = try #require(hashes.first { hash in hashes.filter { $0.isIdentical(to: hash) }.count == 2 })
    #expect(try devices(["why", "--person", hash]) == ["ada-phone-0001", "ada-tablet-0001"])
    let events = try workspace.run(["store", "events", "--person", hash, "--show-personal-data"] + store)
    #expect(events.code == 0 && !events.output.contains("bob-phone-0001"), "\(events.output)")
    #expect(events.output.contains("ada-phone-0001") && events.output.contains("ada-tablet-0001"))
    let nobody = try workspace.run(["why", "--person", "eve"] + store)
    #expect(nobody.code == 64 && nobody.messages == "error: the store has no device of person 'eve'\n")
    let both = try workspace.run(["store", "events", "--person", "a", "--device", "b"] + store)
    #expect(both.code == 64 && both.messages.contains("--device or --person"))
  }

  @Test("An export has what forgetting removes, and changes nothing")
  func export() throws {
    let workspace = try workspace()
    let before = try workspace.read("var/j.sqlite")
    let export = try workspace.run(
      "person", "export", "ada-lovelace-7", "customer-ada", "--store", "var/j.sqlite", "--out", "ada.ndjson")
    #expect(export.code == 0, "\(export.messages)")
    #expect(try workspace.read("var/j.sqlite") == before)
    let attributes = try FileManager.default.attributesOfItem(atPath: workspace.path + "/ada.ndjson")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let lines = try workspace.read("ada.ndjson").split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
    #expect(export.messages.hasPrefix("\(lines.count) lines about 2 devices written to ada.ndjson"))
    var counts: [String: Int] = [:]
    for line in lines { counts[line["status"]?.string ?? line["kind"]?.string ?? "", default: 0] += 1 }
    let friend = lines.first { $0["event"]?.compactText.contains("friend") ?? false }
    #expect(friend?["event"]?["eventTypeCode"]?.string == "17")

    let forgotten = try workspace.run(
      "forget", "job.json", "--mobile-user-id", "ada-lovelace-7", "--user", "customer-ada", "--store", "var/j.sqlite",
      "--sandbox", "--dry-run", "--format", "json")
    #expect(forgotten.code == 0, "\(forgotten.messages)")
    let removed = try #require(JSONNode.parse(Array(forgotten.output.utf8))["removed"]?.members)
    for member in removed {
      #expect(counts[member.key] == member.value.integer.map { Int($0) }, "\(member.key)")
    }
    #expect(removed.contains { $0.key.isIdentical(to: "identityChecks") })
    let nobody = try workspace.run("person", "export", "eve", "--store", "var/j.sqlite", "--out", "eve.ndjson")
    #expect(nobody.code == 64 && nobody.messages == "error: the store has no person 'eve'\n")
    #expect(!FileManager.default.fileExists(atPath: workspace.path + "/eve.ndjson"))
  }

  /// It was said that the store has nobody of that name.
  @Test("Who was forgotten is said to be, and when")
  func forgotten() throws {
    let workspace = try workspace()
    let store = ["--store", "var/j.sqlite"]
    let forgotten = try workspace.run(
      ["forget", "job.json", "--mobile-user-id", "ada-lovelace-7", "--user", "customer-ada", "--sandbox"] + store)
    #expect(forgotten.code == 0, "\(forgotten.messages)")
    let proof = try workspace.run(["store", "erasures", "--format", "json"] + store)
    let at = try #require(JSONNode.parse(Array(proof.output.utf8)).array?.first?["at"]?.string)
    let words = "it was forgotten at \(at); see 'store erasures'\n"
    func told(_ arguments: [String]) throws -> String {
      let finished = try workspace.run(arguments + store)
      #expect(finished.code == 64)
      return finished.messages
    }
    #expect(
      try told(["why", "--person", "customer-ada"])
        == "error: the store has no device of person 'customer-ada'; \(words)")
    #expect(
      try told(["why", "--device", "ada-phone-0001"]) == "error: the store has no device 'ada-phone-0001'; \(words)")
    #expect(
      try told(["person", "export", "ada-lovelace-7"]) == "error: the store has no person 'ada-lovelace-7'; \(words)")
    #expect(
      try told(["person", "export", "eve", "ada-lovelace-7"])
        == "error: the store has no person 'eve ada-lovelace-7'; one of them was forgotten at \(at); "
        + "see 'store erasures'\n")
    #expect(try told(["person", "export", "eve"]) == "error: the store has no person 'eve'\n")
  }
}
