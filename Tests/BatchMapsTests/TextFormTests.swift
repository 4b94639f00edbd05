import BatchFoundation
import EngageRules
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

/// Files that are no lines of JSON at all.
@Suite struct TextFormTests {
  @Test(arguments: [
    ("[{\"a\":1},{\"a\":2}]\n", "a JSON array"), ("[\n  {\"a\":1},\n  {\"a\":2}\n]", "a JSON array"),
    ("{\n  \"a\": 1\n}\n", "multi-line JSON documents"), ("a,b,c\n1,2,3\n", "a CSV table"),
    ("device;when;what\n1;2;\"x;y\"\n", "a semicolon-separated table"),
    ("Gerät;Zeit;Größe\n1;2;3\n", "a semicolon-separated table"),
    ("a\tb\tc\n1\t2\t3\n", "a tab-separated table"),
    ("{\"a\":\"}{\"}{\"b\":2}{}\n", "several JSON documents on one line"),
    ("{\"a\":1}, {\"b\":2}\n{\"a\":3} {\"b\":4}\n", "several JSON documents on one line"),
    ("{\"a\":1}\r{\"a\":2}\r{}", "text with bare carriage returns"),
    ("a,b\r1,2\r3,4\r", "text with bare carriage returns"),
    ("bplist00\u{D1}\u{1}\n\u{2}", "a property list"),
    ("<?xml version=\"1.0\"?>\n<plist><array/>\n", "a property list"),
    ("\u{FEFF}[{\"a\":1}", "a JSON array"), ("SQLite format 3\0\u{1}...", "a SQLite database"),
  ]) func isSaidOnce(_ text: String, _ what: String) throws {
    let folder = try TemporaryFolder(["a.ndjson": text])
    let found = Guarded<[String]>([])
    let files = try InputFiles.find([.events: [folder.path + "/a.ndjson"]], in: "/")
    let options = IngestOptions(maxLineBytes: 1 << 20, memoryLimit: 64 << 20, workers: 1, temporaryFolder: folder.path)
    let result = try Ingest(files, vocabulary: RecordVocabulary.engage, options: options).run(
      Ingest.Callbacks(
        partition: { _ in },
        quarantine: { lines in found.withLock { $0 += lines.map { "\($0.line) \($0.reason.rawValue) \($0.detail)" } } })
    )
    #expect(found.withLock { $0.count } == 1)
    #expect(found.withLock { $0.first?.hasPrefix("0 other-form \(what)") } == true)
    #expect(result.counts.read == 1)
    #expect(result.counts.quarantined == 1)
  }

  /// The same where a map cuts other forms.
  @Test(arguments: [
    (
      "csv", "{\"a\":1}\n",
      "lines of JSON, but the entry's map reads a table; use a map with \"form\": \"lines\""
    ),
    (
      "tsv", "\u{FEFF}[{\"a\":1}]",
      "a JSON array, but the entry's map reads a table; use a map with \"form\": \"json\""
    ),
    (
      "json", "SQLite format 3\0",
      "a SQLite database, but the entry expects text; list an SDK's store under 'stores'"
    ),
    (
      "json", "a,b,c\n1,2,3\n",
      "a CSV table, but the entry's map reads JSON; use a map with \"form\": \"csv\""
    ),
    (
      "json", "a\tb\tc\n1\t2\t3\n",
      "a tab-separated table, but the entry's map reads JSON; use a map with \"form\": \"tsv\""
    ),
    (
      "csv", "a;b\n1;2\n",
      "a table separated by semicolons, so the entry's map needs \"separator\": \";\""
    ),
    (
      "csv", "\"a\"\t\"b\"\n1\t2\n",
      "a table separated by tabs, so the entry's map needs \"separator\": \"\\t\""
    ),
    (
      "tsv", "a,b\n1,2\n",
      "a table separated by commas, so the entry's map needs \"separator\": \",\""
    ),
    (
      "csv", "{\n  \"a\": 1\n}\n",
      "multi-line JSON documents, but the entry's map reads a table; use a map with \"form\": \"json\""
    ),
    ("csv", "[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n", "a JSON array, but the entry's map reads a table"),
    (
      "csv", "a,b\r1,2\r3,4",
      "text with bare carriage returns, which are not accepted as line endings; convert the file: tr '\\r' '\\n' < FILE > OTHER"
    ),
    (
      "csv", "bplist00a\n",
      "a property list, but the entry's map reads a table; use a map with \"form\": \"json\""
    ),
    ("csv", "a,b,a\n1,2,3\n1,2,3\n", "a table with two columns named 'a'; rename one of them"),
    ("csv", "UTF-16", "text in UTF-16, but the entry's map reads UTF-8; add \"encoding\": \"utf-16\" to the map"),
    ("json", "UTF-16", "text in UTF-16, but the entry's map reads UTF-8; add \"encoding\": \"utf-16\" to the map"),
    ("lines", "gzip", "compressed with gzip, but its name does not end with .gz; rename it: mv FILE FILE.gz"),
    ("csv", "gzip", "compressed with gzip"), ("store", "gzip", "compressed with gzip"),
  ]) func isSaidOnceOfMappedFiles(_ form: String, _ text: String, _ what: String) throws {
    let folder = try TemporaryFolder()
    let bytes: [String: [UInt8]] = [
      "gzip": [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 3, 0x4B, 0x0A], "UTF-16": [0xFF, 0xFE, 0x61, 0, 0x0A, 0],
    ]
    try folder.write("a", bytes[text] ?? Array(text.utf8))
    let map = try read(#"{"form": "\#(form)", "fields": {"deviceId": "a"}}"#).map
    let found = Guarded<[String]>([])
    let files = try InputFiles.find(
      [InputPattern(.events, folder.path + "/a", map: InputMap(map, identity: ""))], in: "/")
    let options = IngestOptions(maxLineBytes: 1 << 20, memoryLimit: 64 << 20, workers: 1, temporaryFolder: folder.path)
    let result = try Ingest(files, vocabulary: RecordVocabulary.engage, options: options).run(
      Ingest.Callbacks(
        partition: { _ in },
        quarantine: { lines in found.withLock { $0 += lines.map { "\($0.line) \($0.reason.rawValue) \($0.detail)" } } })
    )
    #expect(found.withLock { $0.count == 1 && $0[0].hasPrefix("0 other-form \(what)") }, "\(found.withLock { $0 })")
    #expect(result.counts.read == 1 && result.counts.quarantined == 1)
  }

  /// It was not said where.
  @Test func aQuoteThatIsNeverClosedIsToldWithItsLine() throws {
    let folder = try TemporaryFolder(["a": "d,n\nx,1\nx,\"open\nx,3\nx,4\n"])
    let map = try read(#"{"form": "csv", "fields": {"deviceId": "d", "timestamp": "n"}}"#).map
    let input = try #require(
      try InputFiles.find(
        [InputPattern(.events, folder.path + "/a", map: InputMap(map, identity: ""))], in: "/"
      ).files.first)
    var told: [MapTrial.Outcome] = []
    try input.tryMap(RecordVocabulary.engage, limit: 10) { if $0.number == 3 { told = $0.outcomes } }
    #expect(
      told == [
        .refused(
          "invalid-row: a quote opened on line 3 is still open at the end of the file (line 5); "
            + #"if quotes have no special meaning in the table, write "quotes": "none" in the map"#)
      ])
  }

  /// Bad lines of an export stay bad lines, whatever they look like.
  @Test(arguments: [
    "[1,2]\n{\"a\":1}\n", "[{\"a\":1}]\n{\"a\":1}\n", "{\n{\"a\":1}\n", "x, y, z: no\n{\"a\":1,\"b\":2,\"c\":3}\n",
    "[]\n", "a,b\n1,2\n",
    "{\"a\":1}{\"a\":2}\n{\"a\":3}\n",
    // Reasons of lines are for these (reference formats 3.7), where nothing else shows that the file is of another form.
    "{\"a\":1}{\"a\":2}\n", "{\"a\":1}\r{\"a\":2}", "[{\"a\":1}]\n",
    "[\n{\"a\":1}\n{\"a\":2}\n", "hello, world, foo\n{\"a\":1,\"b\":2,\"c\":3}\n",
    "{\"a\":\r1}\n", "{\"a\":1,\r\"b\":2}",
    "no\njson\n", "{\"a\":1}\n[\n{\"a\":2}\n]\n",
  ]) func aBadLineIsNoForm(_ text: String) {
    let form = unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe TextForm.of($0, isWhole: true) }
    #expect(form == nil)
  }

  /// Two bytes of UTF-16, and three of gzip, are no file of that.
  @Test(arguments: [[0xFF, 0xFE], [0xFE, 0xFF], [0x1F, 0x8B, 0x08]] as [[UInt8]])
  func aLineThatBeginsLikeAnotherFormIsNoForm(_ start: [UInt8]) {
    let bytes = start + Array("\n{\"a\":1}\n{\"a\":2}\n".utf8)
    #expect(unsafe bytes.withUnsafeBufferPointer { unsafe TextForm.of($0, isWhole: true) } == nil)
  }
}
