import BatchFoundation

/// The members that foreign records have, by their paths, and what their values look like.
struct ExportColumns {
  struct Column {
    /// As a map writes it.
    var path: String
    /// The name without what stands before it, letters and digits only, in lower case.
    var plainName: String
    /// Records that have it, with a text, a number or a boolean.
    var count = 0
    /// As many different ones as tell a column of names from one of free texts.
    var values: Set<String> = []
    /// Of each value.
    var texts: [String] = []
  }

  private(set) var columns: [Column] = []
  /// Of the records themselves, whatever stands there, in the order in which they come first.
  private(set) var members: [String] = []
  private(set) var records = 0
  private var places: [String: Int] = [:]

  mutating func add(_ record: JSONNode) {
    records += 1
    for member in record.members ?? [] {
      if !members.contains(member.key) { members.append(member.key) }
      add(member.value, [member.key])
    }
  }

  private mutating func add(_ node: JSONNode, _ names: [String]) {
    if let members = node.members {
      for member in members { add(member.value, names + [member.key]) }
      return
    }
    guard let text = node.scalar, !text.isEmpty else { return }
    let path = names.map(Self.written).joined(separator: ".")
    let place = places[path] ?? columns.count
    if place == columns.count {
      let letters = (names.last ?? "").lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
      columns.append(Column(path: path, plainName: letters))
      places[path] = place
    }
    columns[place].count += 1
    columns[place].values.insert(text)
    columns[place].texts.append(text)
  }

  /// A name as a path has it.
  static func written(_ name: String) -> String {
    let isPlain =
      !name.isEmpty && !name.contains { ".['".contains($0) } && name.utf8.last != UInt8(ascii: "*") && name != "$"
      && name != "^"
    return isPlain ? name : "'\(name)'"
  }
}
