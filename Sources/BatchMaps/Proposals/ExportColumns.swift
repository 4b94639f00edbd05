import BatchFoundation

/// The members that foreign records have, by their paths, and what their values look like.
package struct ExportColumns {
  struct Column {
    /// As a map writes it.
    var path: String
    /// The words of its names: letters and digits only, in lower case.
    var words: [String]
    /// Records that have it, with a text, a number or a boolean.
    var count = 0
    /// As many different ones as tell a column of names from one of free texts.
    var values: Set<String> = []
    /// Of each value.
    var texts: [String] = []
    /// In which record each text is.
    var rows: [Int] = []

    /// The last name, letters and digits only, in lower case.
    var plainName: String

    /// Whether records that have the same text here have the same text there, and the other way round.
    func parts(asDoes other: Column) -> Bool {
      let pairs = Dictionary(zip(rows, texts)) { $1 }
      let both = zip(other.rows, other.texts).compactMap { row, text in pairs[row].map { "\($0)\u{0}\(text)" } }
      let count = Set(both).count
      return both.count == texts.count && both.count == other.texts.count && count == values.count
        && count == other.values.count
    }

    /// How much its name says: of the last name all, of the last words of several less.
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
  /// Objects, by path, and in how many records each is.
  private(set) var objects: [(path: String, count: Int)] = []
  /// Texts that mean no value.
  private(set) var nulls: Set<String> = []

  /// What databases and programs write for no value.
  private static let nullTexts: Set = [
    "NULL", "null", "\\N", "(null)", "undefined", "nil", "00000000-0000-0000-0000-000000000000",
    "00000000000000000000000000000000",
  ]
  /// The same where an id is expected, in lower case.
  private static let nobody: Set = ["nan", "none", "-", "n/a", "na", "unknown", "anonymous", "guest", "#n/a"]

  static func isNobody(_ text: String) -> Bool { nobody.contains(text.lowercased()) }

  mutating func add(_ record: JSONNode) {
    records += 1
    for member in record.members ?? [] {
      add(member.value, [member.key])
    }
  }

  private mutating func add(_ node: JSONNode, _ names: [String]) {
    if let members = node.members {
      let path = names.map(Self.written).joined(separator: ".")
      if let place = objects.firstIndex(where: { $0.path == path }) {
        objects[place].count += 1
      } else {
        objects.append((path, 1))
      }
      for member in members { add(member.value, names + [member.key]) }
      return
    }
    guard let text = node.scalar, !text.allSatisfy(\.isWhitespace) else { return }
    let words = names.flatMap(Self.words), plainName = (names.last.map(Self.words) ?? []).joined()
    let isID = MapProposal.deviceNames[plainName] != nil || MapProposal.personNames[plainName] != nil
    if Self.nullTexts.contains(text) || isID && Self.isNobody(text) {
      nulls.insert(text)
      return
    }
    let path = names.map(Self.written).joined(separator: ".")
    let place = places[path] ?? columns.count
    if place == columns.count {
      columns.append(Column(path: path, words: words, plainName: plainName))
      places[path] = place
    }
    columns[place].count += 1
    columns[place].values.insert(text)
    columns[place].texts.append(text)
    columns[place].rows.append(records)
  }

  /// `deviceId`, `device_id` and `DEVICE ID` have the same two.
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

  /// Names as a path has them.
  package static func written(_ names: [String]) -> String { names.map(written).joined(separator: ".") }

  /// A name as a path has it.
  package static func written(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && !name.contains { ".['".contains($0) } && name.utf8.last != UInt8(ascii: "*") && name != "$"
      && name != "^"
    return isPlain ? name : "'\(name)'"
  }
}
