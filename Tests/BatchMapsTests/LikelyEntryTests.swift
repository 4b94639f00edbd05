import BatchFoundation
import EngageRules
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

/// What files look like that an entry of a job does not read.
@Suite struct LikelyEntryTests {
  private static let call =
    #"{"type":"track","event":"e","anonymousId":"a","messageId":"m","timestamp":"2026-01-01T08:00:00Z","properties":{}}"#
  private static let push =
    #"{"deviceId":"d","timestamp":"2026-01-01T00:00:01Z","action":"opened","payload":{"aps":{}}}"#
  private static let record = #"{"deviceId":"d","timestamp":"2026-01-01T00:00:01Z","type":"launch"}"#

  @Test(
    arguments: [
      (InputKind.events, call, #"They look like Segment records: list the file as {"path": ..., "map": "segment"}"#),
      (
        .notifications, call,
        #"They look like Segment records: list the file as {"path": ..., "map": "segment"} under 'events'"#
      ),
      (
        .events, "[\(call),\n\(call)]",
        "They look like Segment records in another form: create a map with 'engage-batch init FOLDER --from FILE'"
      ),
      (
        .events, push,
        "They look like records in this program's own format: list the file under 'notifications' without a map"
      ),
      (
        .events, "{\"at\":1,\"data\":\(call)}",
        #"They look like Segment records: list the file as {"path": ..., "map": "segment", "record": "data"}"#
      ),
      (
        .events, "{\"at\":1,\"data\":\(record)}",
        #"They look like records in this program's own format: list the file as {"path": ..., "record": "data"} without a map"#
      ),
      (.events, record, nil), (.events, "{\"a\":1}", nil), (.events, "x", nil),
    ] as [(InputKind, String, String?)])
  func isRecognised(kind: InputKind, text: String, words: String?) throws {
    let folder = try TemporaryFolder(["a.ndjson": text + "\n"])
    let files = try InputFiles.find([kind: [folder.path + "/a.ndjson"]], in: "/")
    let found = try LikelyEntry(of: files.files[0], RecordVocabulary.engage)
    #expect(found?.words == words)
  }
}
