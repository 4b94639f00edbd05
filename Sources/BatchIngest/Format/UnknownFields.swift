public import BatchFoundation

/// The number of records with each field that the format does not know, for the report.
///
/// Exporters use few names, but hostile input can use a new one per line: only the first `limit` names in byte order
/// are kept, whatever the order of reading, and names are cut at `longestName` bytes.
public struct UnknownFields {
  static let limit = 1000
  static let longestName = 200

  private(set) var counts: [[UInt8]: Int] = [:]
  /// The names of all records together, including those beyond the limit.
  private(set) var noted = 0
  /// The names of the current line, counted only if it becomes a record.
  @usableFromInline var pending: [Text] = []
  private var greatest: [UInt8]?

  package init() {}

  /// Records a name of the current line.
  @inlinable public mutating func note(_ name: Text) { pending.append(name) }

  /// Discards the names of the previous line.
  package mutating func drop() { pending.removeAll(keepingCapacity: true) }

  /// Counts the names of the line; they are distinct, because a line with a repeated key is not a record.
  package mutating func commit() {
    if !pending.isEmpty { commitPending() }
  }

  private mutating func commitPending() {
    noted += pending.count
    for name in pending { unsafe add(Array(name.bytes.prefix(Self.longestName)), 1) }
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func add(_ name: [UInt8], _ count: Int) {
    if let known = counts[name] {
      counts[name] = known + count
      return
    }
    if let greatest, !name.lexicographicallyPrecedes(greatest) { return }
    counts[name] = count
    guard counts.count > Self.limit else { return }
    if let last = counts.keys.max(by: { $0.lexicographicallyPrecedes($1) }) { counts[last] = nil }
    greatest = counts.keys.max { $0.lexicographicallyPrecedes($1) }
  }

  mutating func merge(_ other: UnknownFields) {
    for (name, count) in other.counts { add(name, count) }
  }

  /// The fields with their number of records, by the bytes of the name.
  var sorted: [UnknownField] {
    counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { UnknownField(name: String(decoding: $0.key, as: UTF8.self), records: $0.value) }
  }
}
