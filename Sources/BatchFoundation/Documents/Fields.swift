/// The faults of one hand-written document.
package final class DocumentFaults {
  /// The document as messages name it.
  package let source: String
  /// Whether other programs read it, too: unknown keys are ignored, the last of equal keys counts, with a warning, and
  /// places have columns.
  let isForeign: Bool
  private var found: [ConfigurationFault] = []

  /// The number of faults beyond which the rest are only counted.
  package static let most = 200

  package init(_ source: String, isForeign: Bool = false) { (self.source, self.isForeign) = (source, isForeign) }

  /// All faults, by their place in the document.
  package var all: [ConfigurationFault] {
    found.sorted { ($0.place.line ?? 0, $0.place.column ?? 0) < ($1.place.line ?? 0, $1.place.column ?? 0) }
  }

  package var hasErrors: Bool { found.contains { $0.severity == .error } }

  /// Whether to look for suggestions: faults beyond the limit are not shown.
  package var isLookedFor: Bool { found.count < Self.most }

  /// - Parameter place: nil for the document as a whole.
  package func add(
    _ place: TextPlace?, _ severity: ConfigurationFault.Severity, _ problem: String, hint: String? = nil
  ) {
    let place = isForeign ? place ?? TextPlace(line: 1) : place
    found.append(
      ConfigurationFault(
        Place(source, line: place?.line, column: isForeign ? place?.column : nil), severity, problem, hint: hint))
  }

  package func add(_ place: TextPlace?, _ problem: String, hint: String? = nil) {
    add(place, .error, problem, hint: hint)
  }

  package func warn(_ place: TextPlace?, _ problem: String) { add(place, .warning, problem) }

  /// Returns a JSON document; nil if it is none, which is a fault.
  package func json(_ bytes: [UInt8], options: JSONOptions = []) -> JSONNode? {
    do {
      return try JSONNode.parse(bytes, options: options)
    } catch {
      add(LineStarts(bytes).position(of: error.offset), error.reason)
      return nil
    }
  }

  /// - Throws: all errors, if there are any.
  package func throwErrors() throws(FileError) {
    if hasErrors { throw FileError(all.filter { $0.severity == .error }) }
  }
}

/// A value of a hand-written document with its name. A value of another kind than asked for is a fault, and nil.
package struct Field {
  /// The keys that lead to the value, such as `inputs.events[0]`.
  package let name: String
  package let node: JSONNode
  /// The place of its key; that of the array for an element.
  package let keyPlace: TextPlace?
  package let faults: DocumentFaults

  package init(_ name: String, _ node: JSONNode, at keyPlace: TextPlace? = nil, _ faults: DocumentFaults) {
    (self.name, self.node, self.keyPlace, self.faults) = (name, node, keyPlace, faults)
  }

  /// The place of the value, or that of its key.
  package var place: TextPlace? { node.place ?? keyPlace }

  /// Reports a fault of the value; `problem` follows its name.
  package func refuse(_ problem: String, hint: String? = nil) { faults.add(place, "'\(name)' \(problem)", hint: hint) }

  /// Returns what `read` makes of the value; reports nil as a value that is not `expected`.
  package func value<Value>(_ expected: String, _ read: (JSONNode) -> Value?) -> Value? {
    let value = read(node)
    if value == nil { refuse("is \(node.kind), but must be \(expected)") }
    return value
  }

  package func anyText() -> String? { value("a string", \.string) }

  /// Returns a text that is more than white space.
  package func text() -> String? {
    guard let text = anyText() else { return nil }
    if text.utf8.contains(where: { $0 > 0x20 }) { return text }
    refuse("is empty")
    return nil
  }

  /// Returns a boolean, or the one that a variable was expanded to.
  package func flag() -> Bool? {
    value("a boolean") { node in
      node.bool ?? (node.variables.isEmpty ? nil : node.string.flatMap { Bool($0) })
    }
  }

  package func integer(_ range: ClosedRange<Int64>) -> Int64? {
    guard let number = value("an integer", \.integer) else { return nil }
    if range.contains(number) { return number }
    let low = range.lowerBound
    refuse(
      "is \(number), but must be \(range.upperBound == .max ? "\(low) or more" : "between \(low) and \(range.upperBound)")"
    )
    return nil
  }

  package func number(_ range: ClosedRange<Double> = -.infinity ... .infinity) -> Double? {
    guard let number = value("a number", \.double) else { return nil }
    if range.contains(number) { return number }
    refuse("is \(number), but must be between \(range.lowerBound) and \(range.upperBound)")
    return nil
  }

  /// Returns what `read` makes of one of the words.
  package func choice<Choice>(_ words: [String], _ read: (String) -> Choice?) -> Choice? {
    guard let text = text() else { return nil }
    let choice = read(text)
    if choice == nil { refuse(text, as: words) }
    return choice
  }

  /// Reports a text that is none of the words.
  package func refuse(_ text: String, as words: [String]) {
    refuse(
      "is '\(text)', but must be one of \(words.map { "'\($0)'" }.joined(separator: ", "))",
      hint: NearestName.question(about: text, among: words))
  }

  package func choice(_ words: [String]) -> String? {
    choice(words) { text in words.first { $0.isIdentical(to: text) } }
  }

  package func choice<Choice: RawRepresentable>(of choices: [Choice]) -> Choice? where Choice.RawValue == String {
    choice(choices.map(\.rawValue)) { text in choices.first { $0.rawValue.isIdentical(to: text) } }
  }

  /// Returns the elements of an array.
  ///
  /// - Parameter expected: the array in words.
  package func elements(_ expected: String = "an array") -> [Field]? {
    value(expected, \.array)?.enumerated().map { Field("\(name)[\($0)]", $1, at: place, faults) }
  }

  /// Returns a text, or the texts of an array.
  package func texts(mayBeBlank: Bool = false) -> [(text: String, field: Field)] {
    (node.array == nil ? [self] : elements() ?? []).compactMap { element in
      (mayBeBlank ? element.anyText() : element.text()).map { ($0, element) }
    }
  }

  /// Returns the members of an object with any keys, each once.
  package func entries(_ expected: String = "an object") -> [(key: String, field: Field)]? {
    object(expected)?.entries
  }

  /// Returns the texts of an object with any keys.
  package func strings() -> [String: String] {
    var strings: [String: String] = [:]
    for (key, field) in entries() ?? [] { strings[key] = field.anyText() }
    return strings
  }

  /// Returns an object with known keys.
  package func object(_ expected: String = "an object") -> Fields? {
    value(expected, \.members).map { Fields($0, name, "'\(name)'", place, faults) }
  }
}

/// The members of one object of a hand-written document, read by key. What was not asked for is unknown.
package final class Fields {
  /// The keys that lead to the object; empty for the document itself.
  package let name: String
  package let place: TextPlace?
  package let faults: DocumentFaults
  /// The object in words.
  private let subject: String
  private var members: [JSONMember] = []
  private var places: [ByteText: Int] = [:]
  private var asked: [String] = []

  /// Returns the members of the document itself; nil if it is no object, which is a fault.
  ///
  /// - Parameter subject: the document in words.
  package convenience init?(_ document: JSONNode, _ subject: String, _ faults: DocumentFaults) {
    guard let members = document.members else {
      faults.add(document.place, "\(subject) is \(document.kind), but must be an object")
      return nil
    }
    // The name of a JSON Schema is for editors.
    self.init(members.filter { !$0.key.isIdentical(to: "$schema") }, "", subject, document.place, faults)
  }

  fileprivate init(
    _ members: [JSONMember], _ name: String, _ subject: String, _ place: TextPlace?, _ faults: DocumentFaults
  ) {
    (self.name, self.subject, self.place, self.faults) = (name, subject, place, faults)
    for member in members {
      guard let index = places[ByteText(member.key)] else {
        places[ByteText(member.key)] = self.members.count
        self.members.append(member)
        continue
      }
      if faults.isForeign {
        faults.warn(member.place, "the key '\(member.key)' is repeated; the last value counts")
        self.members[index] = member
      } else {
        let first = self.members[index].line.map { " (first on line \($0))" } ?? ""
        faults.add(member.place, "key '\(self.name(of: member.key))' is set twice\(first)")
      }
    }
  }

  package func name(of key: String) -> String { name.isEmpty ? key : "\(name).\(key)" }

  private func field(_ member: JSONMember) -> Field {
    Field(name(of: member.key), member.value, at: member.place, faults)
  }

  private func wasAsked(_ key: String) -> Bool { asked.contains { $0.isIdentical(to: key) } }

  /// The members with any keys, without those that were asked for.
  package var entries: [(key: String, field: Field)] {
    members.filter { !wasAsked($0.key) }.map { ($0.key, field($0)) }
  }

  /// The value of a key that the object may have; null counts as absent.
  package subscript(key: String) -> Field? {
    if !wasAsked(key) { asked.append(key) }
    guard let index = places[ByteText(key)], !members[index].value.isNull else { return nil }
    return field(members[index])
  }

  /// Returns the value of a key that the object must have.
  package func required(_ key: String) -> Field? {
    let field = self[key]
    if field == nil { faults.add(place, "\(subject) has no '\(key)'") }
    return field
  }

  /// Reports a fault of the object, or of the value of a key; `problem` follows the name.
  package func refuse(_ key: String?, _ problem: String) {
    let place = key.flatMap { places[ByteText($0)] }.flatMap { members[$0].value.place ?? members[$0].place } ?? place
    faults.add(place, "\(key.map { "'\(name(of: $0))'" } ?? subject) \(problem)")
  }

  /// Reports the members that were not asked for.
  ///
  /// - Parameter kind: what a member is called.
  /// - Parameter hint: returns a better suggestion for an unknown key; nil for none.
  package func end(_ kind: String = "key", _ hint: (String) -> String? = { _ in nil }) {
    guard !faults.isForeign else { return }
    for member in members where !wasAsked(member.key) {
      let near = { NearestName.of(member.key, among: self.asked).map { NearestName.question(self.name(of: $0)) } }
      let known = "known \(kind)s are \(asked.joined(separator: ", "))"
      faults.add(
        member.place, "unknown \(kind) '\(name(of: member.key))'",
        hint: faults.isLookedFor ? hint(member.key) ?? near() ?? known : nil)
    }
  }
}
