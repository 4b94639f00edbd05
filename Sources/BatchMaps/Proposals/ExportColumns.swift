import BatchFoundation
import BatchIngest

/// The members of foreign records as columns: paths with their values.
package struct ExportColumns {
  struct Column {
    /// The path as written in maps.
    var path: String
    /// The words in the names on the path, with letters and digits only, in lowercase.
    var words: [String]
    var values: Set<String> = []
    /// The values of all records that have one, in order.
    var texts: [String] = []
    /// For each value in ``texts``, the number of its record, from 1.
    var rows: [Int] = []

    /// The last name on the path, with letters and digits only, in lowercase.
    var plainName: String

    /// The number of records with a string, a number or a boolean in this column.
    var count: Int { texts.count }

    /// The values by the numbers of their records.
    var textByRow: [Int: String] { Dictionary(zip(rows, texts)) { $1 } }

    /// Returns whether the columns divide the records into the same groups.
    func parts(asDoes other: Column) -> Bool {
      let pairs = textByRow
      let both = zip(other.rows, other.texts).compactMap { row, text in pairs[row].map { "\($0)\u{0}\(text)" } }
      let count = Set(both).count
      return both.count == texts.count && both.count == other.texts.count && count == values.count
        && count == other.values.count
    }

    /// Returns the other column's values for each value of this one, from records that have both.
    func groups(of other: Column) -> [String: Set<String>] {
      let others = other.textByRow
      return zip(rows, texts).reduce(into: [:]) { groups, pair in
        if let value = others[pair.0] { groups[pair.1, default: []].insert(value) }
      }
    }

    /// Returns the points for the column's last name or, minus a deduction, for its last words; nil if neither is
    /// known.
    func points(_ names: [String: Int]) -> Int? {
      if let known = names[plainName] { return known }
      return (0..<max(0, words.count - 1)).lazy.compactMap { names[self.words[$0...].joined()] }.first.map {
        max(1, $0 - 1)
      }
    }
  }

  private(set) var columns: [Column] = []
  private(set) var records = 0
  private var places: [String: Int] = [:]
  /// The paths that have objects, with the number of objects.
  private(set) var objects: [(path: String, count: Int)] = []
  /// The values found that stand for a missing value.
  private(set) var nulls: Set<String> = []

  /// The words that people write for a missing id, in lowercase.
  private static let nobody: Set = ["nan", "none", "-", "n/a", "na", "unknown", "anonymous", "guest", "#n/a"]

  static func isNobody(_ text: String) -> Bool { nobody.contains(text.lowercased()) }

  /// Returns a description of the person who has at least three devices and at least half of all; nil if there is none.
  static func shared(_ devices: [String: Set<String>], among all: Int) -> String? {
    let most = devices.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }
    guard let most, most.value.count >= 3, most.value.count * 2 >= all else { return nil }
    return "'\(most.key.shortened(to: 60))' on \(most.value.count) of \(all) devices"
  }

  mutating func add(_ record: JSONNode) {
    records += 1
    for member in record.members ?? [] { add(member.value, [member.key]) }
  }

  private mutating func add(_ node: JSONNode, _ names: [String]) {
    let path = Self.written(names)
    if let members = node.members {
      if let place = objects.firstIndex(where: { $0.path == path }) {
        objects[place].count += 1
      } else {
        objects.append((path, 1))
      }
      for member in members { add(member.value, names + [member.key]) }
      return
    }
    guard var text = node.scalar, !text.allSatisfy(\.isWhitespace) else { return }
    // A map writes the number 12.0 as 12.
    if node.string == nil, ColumnLook.isWhole(text) { text.removeLast(2) }
    let words = names.flatMap(Self.words), plainName = (names.last.map(Self.words) ?? []).joined()
    let isID = MapProposal.deviceNames[plainName] != nil || MapProposal.personNames[plainName] != nil
    if text == "nil" || Array(text.utf8).withText(\.namesNobody) || isID && Self.isNobody(text) {
      nulls.insert(text)
      return
    }
    let place = places[path] ?? columns.count
    if place == columns.count {
      columns.append(Column(path: path, words: words, plainName: plainName))
      places[path] = place
    }
    columns[place].values.insert(text)
    columns[place].texts.append(text)
    columns[place].rows.append(records)
  }

  /// Returns the words of a name, which are the same two for `deviceId`, `device_id` and `DEVICE ID`.
  static func words(_ name: String) -> [String] {
    var words: [String] = []
    var last: Character = " "
    for letter in name {
      defer { last = letter }
      guard letter.isLetter || letter.isNumber else { continue }
      let begins = !(last.isLetter || last.isNumber) || last.isLowercase && letter.isUppercase
      if begins || words.isEmpty { words.append("") }
      words[words.count - 1] += letter.lowercased()
    }
    return words
  }

  package static func written(_ names: [String]) -> String { names.map(written).joined(separator: ".") }

  /// Returns a name as written in a path.
  package static func written(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && !name.contains { ".['".contains($0) } && name.utf8.last != UInt8(ascii: "*") && name != "$"
      && name != "^"
    return isPlain ? name : "'\(name.replacing("'", with: "''"))'"
  }
}
