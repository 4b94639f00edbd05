import AllocationCounter
import Glibc

/// What a benchmark took.
struct Measurement {
  var name: String
  var item: String
  var items: Int
  var bytes: Int?
  /// Time of the CPU that the process took for a pass, in the kernel too: the least of all passes.
  var nanoseconds: Double
  /// Calls for memory in one pass.
  var allocations: Int
  /// What they asked for.
  var allocatedBytes: Int
  /// The most that was held at once, above what was held when the pass began; in bytes with the heap's rounding.
  var peak: Int

  private static let fewestPasses = 5
  private static let enough = 300_000_000.0

  /// Time is taken in passes of their own, for counting costs some.
  init(_ benchmark: some Benchmark) throws {
    (name, item) = (benchmark.name, benchmark.item)
    (items, bytes) = (benchmark.items, benchmark.bytes)
    // The first pass pays for what is made once.
    try benchmark.prepare()
    try benchmark.pass()
    try benchmark.prepare()
    allocationCountStart()
    let outcome = Result { try benchmark.pass() }
    let count = allocationCountStop()
    try outcome.get()
    (allocations, allocatedBytes, peak) = (Int(count.allocations), Int(count.bytes), Int(count.peak))
    nanoseconds = .infinity
    var (passes, total) = (0, 0.0)
    while passes < Self.fewestPasses || total < Self.enough {
      try benchmark.prepare()
      let start = Self.cpuTime()
      try benchmark.pass()
      let time = Self.cpuTime() - start
      nanoseconds = min(nanoseconds, time)
      total += time
      passes += 1
    }
  }

  private static func cpuTime() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
