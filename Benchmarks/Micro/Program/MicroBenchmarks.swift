import FoundationEssentials
import Glibc

/// `engage-microbenchmarks BASELINE TOOLCHAIN [record]`: measures the steps of a run one by one and compares their allocations
/// with the baseline; see Benchmarks/README.md.
@main
struct MicroBenchmarks {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 || arguments.count == 4 && arguments[3] == "record" else {
      exit(failing: "usage: engage-microbenchmarks BASELINE TOOLCHAIN [record]")
    }
    let (path, toolchain) = (arguments[1], arguments[2])
    let check = try Measurement(SelfCheck())
    guard check.allocations == check.items else {
      exit(failing: "\(check.items) allocations were counted as \(check.allocations): the counter does not work here")
    }
    print(Measurement.heading)
    print(check.row)
    let measurements = try measured()
    guard arguments.count == 3 else {
      try Data(AllocationBaseline(toolchain: toolchain, measurements).text.utf8).write(to: URL(filePath: path))
      print("\nRecorded in \(path).")
      return
    }
    let baseline = try AllocationBaseline(contentsOf: path)
    let excesses = measurements.compactMap { measurement in
      baseline.excess(of: measurement).map { "\(path): \(measurement.name): \($0.description(for: measurement.item))" }
    }
    for measurement in measurements where baseline.isGenerous(to: measurement) {
      print("\(measurement.name): fewer allocations than recorded; `make bench-micro RECORD=1` keeps it that way")
    }
    guard excesses.isEmpty else {
      var hints = ["`make bench-micro RECORD=1` records what is meant to be"]
      if baseline.toolchain != toolchain {
        hints.insert("recorded with \(baseline.toolchain), this is \(toolchain)", at: 0)
      }
      exit(failing: (excesses + hints).joined(separator: "\n"))
    }
    print("\nNo more allocations than recorded in \(path) (tolerance \(AllocationBaseline.tolerance) %).")
  }

  /// Measures all benchmarks and prints each when it is done.
  private static func measured() throws -> [Measurement] {
    let folder = try TemporaryFolder()
    let (typical, deep) = (EventLines.typical(20_000, devices: 400), EventLines.deep(4000))
    let long = EventLines.long(4, textBytes: 2_000_000)
    var measurements: [Measurement] = []
    func measure(_ make: () throws -> some Benchmark) throws {
      let measurement = try Measurement(make())
      print(measurement.row)
      measurements.append(measurement)
    }
    try measure { ReaderBenchmark("reader", typical) }
    try measure { ReaderBenchmark("reader-deep", deep) }
    try measure { ReaderBenchmark("reader-long", long) }
    try measure { DecoderBenchmark("decoder", typical) }
    try measure { DecoderBenchmark("decoder-long", long) }
    try measure { try IngestBenchmark("ingest", typical, in: folder) }
    try measure { try RuleBenchmark(typical) }
    try measure { try StateBenchmark(typical) }
    let decided = try ProcessedEvents(typical)
    try measure { EncoderBenchmark("encoder", decided) }
    try measure { EncoderBenchmark("encoder-long", try ProcessedEvents(long)) }
    try measure { BodyBenchmark(decided) }
    try measure { StoreBenchmark(decided, in: folder) }
    return measurements
  }

  private static func exit(failing message: String) -> Never {
    fflush(nil)
    let text = Array("error: \(message)\n".utf8)
    unsafe write(STDERR_FILENO, text, text.count)
    Glibc.exit(1)
  }
}
