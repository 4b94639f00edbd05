import BatchFoundation

/// Lines onto a tape, UTF-8 known to be valid.
final class ReaderBenchmark: Benchmark {
  let name: String
  let item = "line"
  let items: Int
  let bytes: Int?
  private let lines: EventLines
  private var reader = JSONReader()
  private var tape = JSONTape(capacity: 1 << 22)

  init(_ name: String, _ lines: EventLines) {
    self.name = name
    self.lines = lines
    items = lines.ranges.count
    bytes = lines.bytes.count
  }

  func pass() throws {
    try unsafe lines.forEach { line in
      tape.truncate(to: 0)
      guard try unsafe !reader.read(line, onto: &tape).hasAny else { throw UnexpectedResult(name) }
    }
  }
}

/// What a step made of the input is not what it has to be.
struct UnexpectedResult: Error, CustomStringConvertible {
  var benchmark: String

  init(_ benchmark: String) { self.benchmark = benchmark }

  var description: String { "\(benchmark): the step did not do its work on all items" }
}
