import BatchFoundation
import Foundation
import Testing

extension LateRecordTests {
  /// The times and numbers of a game's events, after nights that read a day's lines each.
  private func game(_ nights: [[(time: String, id: String, x: Int)]], sendsFirst: Bool = false) throws -> [String] {
    let workspace = try Workspace([])
    try workspace.write(
      "game.json",
      #"{"name": "game", "destination": "deltadna", "inputs": {"events": ["*.ndjson"]}, "store": "g.sqlite"}"#)
    for (night, lines) in nights.enumerated() {
      let text = lines.map {
        #"{"eventName":"e","userID":"u","eventTimestamp":"2026-01-\#($0.time):00.000","eventUUID":"\#($0.id)","eventParams":{"x":\#($0.x)}}"#
          + "\n"
      }
      try workspace.write("\(night).ndjson", text.joined())
      let more = sendsFirst && night == 0 ? [] : ["--no-upload"]
      let run = try workspace.run(
        ["run", "game.json", "--sandbox", "--store", "g.sqlite", "--as-of", "2026-01-12T\(10 + night):00:00Z"] + more)
      #expect(run.code == 0, "\(run.messages)")
    }
    let listing = try workspace.run(
      "store", "events", "--store", "g.sqlite", "--format", "json", "--show-personal-data")
    return try JSONNode.parse(Array(listing.output.utf8)).array?.map {
      "\($0["eventTimestamp"]?.string?.dropFirst(8).prefix(8) ?? "") \($0["eventParams"]?["x"]?.integer ?? 0)"
    }.sorted() ?? []
  }

  @Test("Of two stored game events with one id the first in order counts, whichever night read it")
  func storedEventsOfOneID() throws {
    let first = [("10 08:10", "ID-1", 1), ("10 09:00", "ID-2", 2)]
    #expect(try game([first, [("10 08:05", "id-1", 3)]]) == ["10 08:05 3", "10 09:00 2"])
    #expect(try game([first, [("10 08:15", "id-1", 3)]]) == ["10 08:10 1", "10 09:00 2"])
    // Of another night each, and once more by one that is earlier still.
    #expect(
      try game([
        first, [("11 07:00", "ID-3", 4)], [("10 07:00", "id-3", 5), ("10 08:05", "id-1", 3)], [("09 23:00", "Id-3", 6)],
      ])
        == ["09 23:00 6", "10 08:05 3", "10 09:00 2"])
    // Beyond the reach, and where the other was sent.
    #expect(try game([first, [("05 08:05", "id-1", 3)]]) == ["10 08:10 1", "10 09:00 2"])
    #expect(try game([first, [("10 08:05", "id-1", 3)]], sendsFirst: true) == ["10 08:10 1", "10 09:00 2"])
  }
}
