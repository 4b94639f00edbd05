package import BatchFoundation

/// A value that is summed by name.
package protocol Tallied: Sendable, Equatable, Codable {
  /// Creates an empty tally.
  init()
  static func += (total: inout Self, part: Self)
  static func -= (total: inout Self, part: Self)
}

extension Int: Tallied {}

/// Tallies by name in bounded memory: the first names in byte order are kept, and all others share one tally.
///
/// A name kept at the end was among the first ever since its first use, regardless of the order of names. So its tally
/// is complete, and the table does not depend on the order in which threads add to it.
package struct NameTable<Value: Tallied>: Sendable, Codable {
  private let limit: Int
  private var all: [ByteText: Value] = [:]
  private var others = Value()

  /// The number of bytes to which names are truncated, because they may be as long as a line.
  private static var longestName: Int { 256 }

  package init(atMost limit: Int) { self.limit = limit }

  package mutating func change(_ name: ByteText, _ change: (inout Value) -> Void) {
    change(&all[Self.cut(name), default: Value()])
    // Trims only at twice the limit, so that many names share the cost of sorting.
    if all.count > 2 * limit { keepFirst() }
  }

  package mutating func add(_ part: Value, to name: ByteText) { change(name) { $0 += part } }

  /// Changes the tally of the names that are not kept.
  mutating func addToRest(_ change: (inout Value) -> Void) { change(&others) }

  /// The kept names, ordered by their bytes.
  package var named: [(name: ByteText, value: Value)] {
    all.sorted { $0.key < $1.key }.prefix(limit).map { ($0.key, $0.value) }
  }

  /// The tally of all names that are not in ``named``.
  package var rest: Value {
    guard all.count > limit else { return others }
    var rest = others
    for (_, value) in all.sorted(by: { $0.key < $1.key }).dropFirst(limit) { rest += value }
    return rest
  }

  /// Returns the names with the greatest weights in descending order, and the sum of all others.
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

  package static func -= (total: inout NameTable, part: NameTable) {
    for (name, value) in part.all { total.change(name) { $0 -= value } }
    total.dropEmpty()
    total.others -= part.others
  }

  /// Removes names whose counts were all subtracted again.
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

  /// Passes the name to `body` as the table has it: truncated if it is long.
  package static func withCut<Result>(_ name: Text, _ body: (Text) -> Result) -> Result {
    name.count > longestName ? name.description.clipped(toBytes: longestName).withText(body) : body(name)
  }
}

extension NameTable where Value == Int {
  package var total: Int { all.values.reduce(others, +) }

}

extension NameTable: Equatable {
  package static func == (one: NameTable, other: NameTable) -> Bool {
    one.rest == other.rest && one.named.elementsEqual(other.named) { $0.name == $1.name && $0.value == $1.value }
  }
}
