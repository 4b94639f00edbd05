import BatchFoundation
import FoundationEssentials

/// The allocations of each benchmark as they were recorded, in `Benchmarks/allocations.json`.
///
/// Counts are the same on every machine with the same toolchain, so the tolerance is small; it is there for libraries of the system.
struct AllocationBaseline {
  struct Entry: Equatable {
    var items: Int
    var allocations: Int
    var bytes: Int
  }

  /// A benchmark takes more than what was recorded, or there is nothing to compare it with.
  enum Excess: Equatable {
    case notRecorded
    case otherItems(recorded: Int)
    case allocations(recorded: Double, measured: Double)
    case bytes(recorded: Double, measured: Double)
  }

  /// In percent of what was recorded.
  static let tolerance = 2

  var toolchain: String
  var entries: [(name: String, entry: Entry)]

  init(toolchain: String, _ measurements: [Measurement]) {
    self.toolchain = toolchain
    entries = measurements.map {
      ($0.name, Entry(items: $0.items, allocations: $0.allocations, bytes: $0.allocatedBytes))
    }
  }

  /// - Throws: when the file cannot be read or is not one that ``text`` made.
  init(contentsOf path: String) throws {
    let root = try JSONNode.parse([UInt8](try Data(contentsOf: URL(filePath: path))))
    toolchain = root["toolchain"]?.string ?? ""
    entries = try (root["benchmarks"]?.members ?? []).map { member in
      guard let items = member.value["items"]?.integer, let count = member.value["allocations"]?.integer,
        let bytes = member.value["bytes"]?.integer
      else { throw UnexpectedResult(member.key) }
      return (member.key, Entry(items: Int(items), allocations: Int(count), bytes: Int(bytes)))
    }
  }

  var text: String {
    let lines = entries.map { name, entry in
      "    \"\(name)\": { \"items\": \(entry.items), \"allocations\": \(entry.allocations), \"bytes\": \(entry.bytes) }"
    }
    return """
      {
        "toolchain": "\(toolchain)",
        "benchmarks": {
      \(lines.joined(separator: ",\n"))
        }
      }

      """
  }

  /// Nil when the benchmark keeps to what was recorded.
  func excess(of measurement: Measurement) -> Excess? {
    guard let recorded = entries.first(where: { $0.name == measurement.name })?.entry else { return .notRecorded }
    guard recorded.items == measurement.items else { return .otherItems(recorded: recorded.items) }
    let items = Double(recorded.items)
    func isMore(_ measured: Int, _ recorded: Int) -> Bool { measured * 100 > recorded * (100 + Self.tolerance) }
    let (allocations, bytes) = (measurement.allocations, measurement.allocatedBytes)
    if isMore(allocations, recorded.allocations) {
      return .allocations(recorded: Double(recorded.allocations) / items, measured: Double(allocations) / items)
    }
    if isMore(bytes, recorded.bytes) {
      return .bytes(recorded: Double(recorded.bytes) / items, measured: Double(bytes) / items)
    }
    return nil
  }

  /// Whether less was measured than recorded, beyond the tolerance: the next excess would hide behind the old figure.
  func isGenerous(to measurement: Measurement) -> Bool {
    guard let recorded = entries.first(where: { $0.name == measurement.name })?.entry else { return false }
    return measurement.allocations * (100 + Self.tolerance) < recorded.allocations * 100
  }
}
