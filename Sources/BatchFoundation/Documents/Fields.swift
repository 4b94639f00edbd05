/// A named value in a hand-written document. The methods that read it report a value of the wrong kind as a fault and
/// return nil for it.
package struct Field {
  /// The path of keys to the value, such as `inputs.events[0]`.
  package let name: String
  package let node: JSONNode
  /// The place of the value's key or, for an element of an array, of the array.
  package let keyPlace: TextPlace?
  package let faults: DocumentFaults

  package init(_ name: String, _ node: JSONNode, at keyPlace: TextPlace? = nil, _ faults: DocumentFaults) {
    (self.name, self.node, self.keyPlace, self.faults) = (name, node, keyPlace, faults)
  }

  /// The place of the value or, if it has none, of its key.
  package var place: TextPlace? { node.place ?? keyPlace }

  /// Reports a fault in the value; `problem` is appended to the value's name.
  package func refuse(_ problem: String, hint: String? = nil) { faults.add(place, "'\(name)' \(problem)", hint: hint) }

  /// Returns the result of `read`; if that is nil, reports that the value is not `expected`.
  package func value<Value>(_ expected: String, _ read: (JSONNode) -> Value?) -> Value? {
    let value = read(node)
    if value == nil { refuse("is \(node.kind), but must be \(expected)") }
    return value
  }

  package func anyText() -> String? { value("a string", \.string) }

  /// Returns the string; an empty or blank string is a fault.
  package func text() -> String? {
    guard let text = anyText() else { return nil }
    if text.utf8.contains(where: { $0 > 0x20 }) { return text }
    refuse("is empty")
    return nil
  }

  /// Returns a boolean; also accepts the string `true` or `false` if an environment variable was expanded in it.
  package func flag() -> Bool? {
    value("a boolean") { node in
      node.bool ?? (node.variables.isEmpty ? nil : node.string.flatMap { Bool($0) })
    }
  }

  package func integer<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> Number? {
    guard let number = value("an integer", \.integer) else { return nil }
    if let fitting = Number(exactly: number), range.contains(fitting) { return fitting }
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

  /// Returns the result of `read` for a string; if that is nil, reports that the string is not one of `words`.
  package func choice<Choice>(_ words: [String], _ read: (String) -> Choice?) -> Choice? {
    guard let text = text() else { return nil }
    let choice = read(text)
    if choice == nil { refuse(text, as: words) }
    return choice
  }

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
  /// - Parameter expected: the description of the array in messages.
  package func elements(_ expected: String = "an array") -> [Field]? {
    value(expected, \.array)?.enumerated().map { Field("\(name)[\($0)]", $1, at: place, faults) }
  }

  /// Returns the string, or the strings in an array; other values are reported and left out.
  package func texts(mayBeBlank: Bool = false) -> [(text: String, field: Field)] {
    (node.array == nil ? [self] : elements() ?? []).compactMap { element in
      (mayBeBlank ? element.anyText() : element.text()).map { ($0, element) }
    }
  }

  /// Returns the members of an object whose keys are not predefined; no key is repeated.
  package func entries(_ expected: String = "an object") -> [(key: String, field: Field)]? {
    object(expected)?.entries
  }

  /// Returns the string values of an object whose keys are not predefined; other values are reported and left out.
  package func strings() -> [String: String] {
    var strings: [String: String] = [:]
    for (key, field) in entries() ?? [] { strings[key] = field.anyText() }
    return strings
  }

  /// Returns the members of an object, to be read by key.
  package func object(_ expected: String = "an object") -> Fields? {
    value(expected, \.members).map { Fields($0, name, "'\(name)'", place, faults) }
  }
}

/// The members of one object in a hand-written document, read by key. Keys that are never read are reported as unknown.
package final class Fields {
  /// The path of keys to the object; empty for the document itself.
  package let name: String
  package let place: TextPlace?
  package let faults: DocumentFaults
  /// The description of the object in messages.
  private let subject: String
  private var members: [JSONMember] = []
  private var places: [ByteText: Int] = [:]
  private var asked: [String] = []

  /// Reads the members of the document itself; if it is not an object, adds a fault and returns nil.
  ///
  /// - Parameter subject: the description of the document in messages.
  package convenience init?(_ document: JSONNode, _ subject: String, _ faults: DocumentFaults) {
    guard let members = document.members else {
      faults.add(document.place, "\(subject) is \(document.kind), but must be an object")
      return nil
    }
    // `$schema` names a JSON Schema for editors and has no meaning here.
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

  /// The members whose keys have not been read yet, for objects whose keys are not predefined.
  package var entries: [(key: String, field: Field)] {
    members.filter { !wasAsked($0.key) }.map { ($0.key, field($0)) }
  }

  /// The value of an optional key; null counts as absent.
  package subscript(key: String) -> Field? {
    if !wasAsked(key) { asked.append(key) }
    guard let index = places[ByteText(key)], !members[index].value.isNull else { return nil }
    return field(members[index])
  }

  /// Returns the value of a required key; if it is absent, adds a fault and returns nil.
  package func required(_ key: String) -> Field? {
    let field = self[key]
    if field == nil { faults.add(place, "\(subject) has no '\(key)'") }
    return field
  }

  /// Reports a fault in the object or in the value of a key; `problem` is appended to the name.
  package func refuse(_ key: String?, _ problem: String) {
    let place = key.flatMap { places[ByteText($0)] }.flatMap { members[$0].value.place ?? members[$0].place } ?? place
    faults.add(place, "\(key.map { "'\(name(of: $0))'" } ?? subject) \(problem)")
  }

  /// Reports the members whose keys were never read, unless other programs also read the document.
  ///
  /// - Parameter kind: the noun for a member in messages.
  /// - Parameter hint: returns a better suggestion for an unknown key; nil for none.
  package func end(_ kind: String = "key", _ hint: (String) -> String? = { _ in nil }) {
    guard !faults.isForeign else { return }
    for member in members where !wasAsked(member.key) {
      let near = { NearestName.of(member.key, among: self.asked).map { NearestName.question(self.name(of: $0)) } }
      let known = "known \(kind)s: \(asked.joined(separator: ", "))"
      faults.add(
        member.place, "unknown \(kind) '\(name(of: member.key))'",
        hint: faults.isLookedFor ? hint(member.key) ?? near() ?? known : nil)
    }
  }
}
