import BatchFoundation
import BatchIngest
import EngageRules

/// Lines to checked records, one by one.
final class DecoderBenchmark: Benchmark {
  let name: String
  let item = "line"
  let items: Int
  let bytes: Int?
  private let lines: EventLines
  private var reader = LineReader(RecordVocabulary.engage)
  private var head = RecordHead()

  init(_ name: String, _ lines: EventLines) {
    self.name = name
    self.lines = lines
    items = lines.ranges.count
    bytes = lines.bytes.count
  }

  func pass() throws {
    let position = RecordPosition(file: 0, line: 1)
    try unsafe lines.forEach { line in
      guard unsafe reader.read(line, kind: .events, position: position, into: &head) == nil else {
        throw UnexpectedResult(name)
      }
    }
  }
}

/// A file to packed records, device by device and in order, on one thread.
final class IngestBenchmark: Benchmark {
  let name: String
  let item = "line"
  let items: Int
  let bytes: Int?
  private let ingest: Ingest

  init(_ name: String, _ lines: EventLines, in folder: TemporaryFolder) throws {
    self.name = name
    items = lines.ranges.count
    bytes = lines.bytes.count
    let path = try folder.write(lines.bytes, to: "\(name).ndjson")
    var options = IngestOptions(
      maxLineBytes: 16 << 20, memoryLimit: 128 << 20, workers: 2, temporaryFolder: folder.path)
    options.workers = 1
    ingest = Ingest(
      try InputFiles.find([InputPattern(.events, path)], in: folder.path), vocabulary: RecordVocabulary.engage,
      options: options)
  }

  func pass() throws {
    let result = try ingest.run(Ingest.Callbacks(partition: { _ in }))
    guard result.counts.accepted == items else { throw UnexpectedResult(name) }
  }
}
