package import BatchFoundation

/// What is added up by name.
package protocol Tallied: Sendable, Equatable, Codable {
  /// Nothing.
  init()
  static func += (total: inout Self, part: Self)
  static func -= (total: inout Self, part: Self)
}

extension Int: Tallied {}

/// Tallies by name in bounded memory: of too many names the first by their bytes are kept, and all others are one tally.
///
/// A name that is kept in the end was among the first from its first use on, whatever else came in which order. So its tally is
/// complete, and the table does not depend on threads.
package struct NameTable<Value: Tallied>: Sendable, Codable {
  private let limit: Int
  private var all: [ByteText: Value] = [:]
  private var others = Value()

  /// Longer names are cut; they may be as long as a line.
  private static var longestName: Int { 256 }

  package init(atMost limit: Int) { self.limit = limit }

  package mutating func change(_ name: ByteText, _ change: (inout Value) -> Void) {
    change(&all[Self.cut(name), default: Value()])
    // Twice as many before some go, so that each costs a step of sorting and not a search.
    if all.count > 2 * limit { keepFirst() }
  }

  package mutating func add(_ part: Value, to name: ByteText) { change(name) { $0 += part } }

  /// The names that are kept, by their bytes.
  package var named: [(name: ByteText, value: Value)] {
    all.sorted { $0.key < $1.key }.prefix(limit).map { ($0.key, $0.value) }
  }

  /// What fell to all other names.
  package var rest: Value {
    var rest = others
    for (_, value) in all.sorted(by: { $0.key < $1.key }).dropFirst(limit) { rest += value }
    return rest
  }

  /// The names with the most of something, the greatest first, and the sum of all others.
  func ranked(
    atMost limit: Int, by weight: (Value) -> Int
  ) -> (first: [(name: ByteText, value: Value)], rest: Value) {
    let ordered = named.sorted {
      let (one, other) = (weight($0.value), weight($1.value))
      return one != other ? one > other : $0.name < $1.name
    }
    return (Array(ordered.prefix(limit)), ordered.dropFirst(limit).reduce(into: rest) { $0 += $1.value })
  }

  package subscript(name: ByteText) -> Value? { all[Self.cut(name)] }

  package static func += (total: inout NameTable, part: NameTable) {
    for (name, value) in part.all { total.add(value, to: name) }
    total.dropEmpty()
    total.others += part.others
  }

  /// Takes back what is in another table.
  package static func -= (total: inout NameTable, part: NameTable) {
    for (name, value) in part.all { total.change(name) { $0 -= value } }
    total.dropEmpty()
    total.others -= part.others
  }

  /// Names of which nothing is left, because what was counted has been taken back, are in no table.
  private mutating func dropEmpty() { all = all.filter { $0.value != Value() } }

  private mutating func keepFirst() {
    for name in all.keys.sorted().dropFirst(limit) {
      if let value = all.removeValue(forKey: name) { others += value }
    }
  }

  private static func cut(_ name: ByteText) -> ByteText {
    guard name.string.utf8.count > longestName else { return name }
    return ByteText(name.string.clipped(toBytes: longestName))
  }
}

extension NameTable where Value == Int {
  /// Of all names.
  package var total: Int { all.values.reduce(others, +) }

}

extension NameTable: Equatable {
  package static func == (one: NameTable, other: NameTable) -> Bool {
    one.rest == other.rest && one.named.elementsEqual(other.named) { $0.name == $1.name && $0.value == $1.value }
  }
}
