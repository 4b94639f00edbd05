public import BatchFoundation

/// How many records had each field that the format does not know, for the report.
///
/// Exporters invent few names, hostile input invents one a line: only the first `limit` names in byte order are kept, which is
/// the same set whatever the order of reading, and names are cut at `longestName` bytes.
public struct UnknownFields {
  static let limit = 1000
  static let longestName = 200

  private(set) var counts: [[UInt8]: Int] = [:]
  /// Names of all records together, those left out by the limit included.
  private(set) var noted = 0
  /// The names of the line at hand, which count only when it becomes a record.
  @usableFromInline var pending: [Text] = []
  private var greatest: [UInt8]?

  package init() {}

  /// Takes note of a name of the line at hand.
  @inlinable public mutating func note(_ name: Text) { pending.append(name) }

  /// Forgets the names of the line before.
  package mutating func drop() { pending.removeAll(keepingCapacity: true) }

  /// Counts the names of the line; they are distinct, because a repeated key is not a record.
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

  /// Name and number of records, by the bytes of the name.
  var sorted: [UnknownField] {
    counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { UnknownField(name: String(decoding: $0.key, as: UTF8.self), records: $0.value) }
  }
}
