import BatchFoundation

/// The spellings of a name that paths accept if no member has the exact name: none, the name in a different ASCII case,
/// or the name with both case and underscores ignored. Warehouses change both.
enum MapNames: String, CaseIterable, Sendable {
  case exact, anyCase, similar
}

/// A place in a foreign record, such as `context.device.id` (reference formats 6.3).
///
/// Dots separate names; single quotes enclose a name that contains dots, brackets or (doubled) quotes. `[0]` is an
/// element of an array, `[-1]` the last one, `[key=source]` the first element whose member `key` is `source`. A name
/// that ends with `*` matches the first nonempty member whose name begins that way; a value such as `source` may end
/// with `*` as well. `$` is the record; `^` is the line or, with `each`, the object whose array contains the record.
struct MapPath: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case member([UInt8])
    case element(Int)
    case match(key: [UInt8], value: [UInt8], isBeginning: Bool)
    case first(beginning: [UInt8])
  }

  struct Refusal: Error { var problem: String }

  let text: String
  let isOuter: Bool
  let steps: [Step]
  /// The other spellings that are accepted if no member has exactly the name in the path.
  let names: MapNames

  init(_ text: String, names: MapNames = .exact) throws(Refusal) {
    (self.text, self.names) = (text, names)
    var steps: [Step] = []
    var isOuter = false
    let bytes = Array(text.utf8)
    var at = 0
    if let first = bytes.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "^"),
      bytes.count == 1 || bytes[1] == UInt8(ascii: ".") || bytes[1] == UInt8(ascii: "[")
    {
      isOuter = first == UInt8(ascii: "^")
      at = bytes.count > 1 && bytes[1] == UInt8(ascii: ".") ? 2 : 1
      if at == 2, bytes.count == 2 { throw Refusal(problem: "ends with a dot") }
    } else if bytes.isEmpty {
      throw Refusal(problem: "is empty")
    }
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "[") {
        steps.append(try Self.bracket(bytes, &at))
      } else {
        let name = try Self.name(bytes, &at)
        let isBeginning = !name.isQuoted && name.bytes.last == UInt8(ascii: "*")
        steps.append(isBeginning ? .first(beginning: Array(name.bytes.dropLast())) : .member(name.bytes))
      }
      guard at < bytes.count, bytes[at] != UInt8(ascii: "[") else { continue }
      guard bytes[at] == UInt8(ascii: ".") else { throw Refusal(problem: "has text after a bracket or a quote") }
      at += 1
      if at == bytes.count { throw Refusal(problem: "ends with a dot") }
    }
    (self.steps, self.isOuter) = (steps, isOuter)
  }

  /// Returns whether this path is longer than the other one and begins with its steps.
  func leads(below other: MapPath) -> Bool { steps.count > other.steps.count && steps.starts(with: other.steps) }

  func member(_ name: [UInt8]) -> MapPath { MapPath(text, isOuter, steps + [.member(name)], names) }

  /// The same path, starting at the line instead of the record.
  var outer: MapPath { MapPath(text, true, steps, names) }

  private init(_ text: String, _ isOuter: Bool, _ steps: [Step], _ names: MapNames) {
    (self.text, self.isOuter, self.steps, self.names) = (text, isOuter, steps, names)
  }

  private static func name(_ bytes: [UInt8], _ at: inout Int) throws(Refusal) -> (bytes: [UInt8], isQuoted: Bool) {
    if bytes[at] == UInt8(ascii: "'") {
      var name: [UInt8] = []
      while let end = bytes[(at + 1)...].firstIndex(of: UInt8(ascii: "'")) {
        name += bytes[(at + 1)..<end]
        at = end + 1
        guard at < bytes.count, bytes[at] == UInt8(ascii: "'") else { return (name, true) }
        name.append(UInt8(ascii: "'"))
      }
      throw Refusal(problem: "has a quote that is never closed")
    }
    let end = bytes[at...].firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") } ?? bytes.count
    guard end > at else { throw Refusal(problem: "has an empty name") }
    defer { at = end }
    return (Array(bytes[at..<end]), false)
  }

  private static func bracket(_ bytes: [UInt8], _ at: inout Int) throws(Refusal) -> Step {
    guard let end = bytes[at...].firstIndex(of: UInt8(ascii: "]")) else {
      throw Refusal(problem: "has a bracket that is never closed")
    }
    let inner = bytes[(at + 1)..<end]
    defer { at = end + 1 }
    if let equal = inner.firstIndex(of: UInt8(ascii: "=")), equal > inner.startIndex {
      let value = inner[(equal + 1)...]
      let isBeginning = value.last == UInt8(ascii: "*")
      return .match(
        key: Array(inner[..<equal]), value: Array(isBeginning ? value.dropLast() : value), isBeginning: isBeginning)
    }
    guard let index = Int(String(decoding: inner, as: UTF8.self)) else {
      throw Refusal(
        problem: "has '[\(String(decoding: inner, as: UTF8.self))]', which is neither a number nor key=value")
    }
    return .element(index)
  }

  /// Returns the value at the path, which may be null; nil if there is no value.
  func value(in record: JSONView, of line: JSONView, _ texts: JSONTexts) -> JSONView? {
    Self.value(steps[...], in: isOuter ? line : record, names, texts)
  }

  /// Returns the value at the end of the steps, which may be null; nil if there is no value.
  static func value(
    _ steps: ArraySlice<Step>, in view: JSONView, _ names: MapNames, _ texts: JSONTexts
  ) -> JSONView? {
    var view = view
    for step in steps {
      view = texts.value(of: view)
      var next = Self.value(of: step, in: view)
      if names != .exact, !(next?.isGiven ?? false) { next = similar(to: step, in: view, names) ?? next }
      guard let next else { return nil }
      view = next
    }
    return view
  }

  @inline(__always)
  private static func value(of step: Step, in view: JSONView) -> JSONView? {
    switch step {
    case .member(let name): return name.withText { view[$0] }
    case .first(let beginning):
      return beginning.withText { beginning in
        view.members.first { $0.value.isThere && $0.key.starts(with: beginning) }?.value
      }
    case .match(let key, let value, let isBeginning):
      return key.withText { key in
        value.withText { value in
          view.list.elements.first { element in
            element.item[key].map { isMatch($0, value, isBeginning) } ?? false
          }?.item
        }
      }
    case .element(let index):
      var place = index
      if index < 0 {
        place += view.list.elements.reduce(0) { count, _ in count + 1 }
        if place < 0 { return nil }
      }
      for element in view.list.elements {
        if place == 0 { return element.item }
        place -= 1
      }
      return nil
    }
  }
}

extension MapPath {
  /// Returns the value of a member with a name similar to the step's; nil if there is none.
  private static func similar(to step: Step, in view: JSONView, _ names: MapNames) -> JSONView? {
    switch step {
    case .member(let name):
      name.withText { name in view.members.first { $0.value.isGiven && $0.key.isMeant(by: name, names) }?.value }
    case .first(let beginning):
      beginning.withText { beginning in
        view.members.first { $0.value.isThere && $0.key.isMeant(by: beginning, names, isBeginning: true) }?.value
      }
    case .match(let key, let value, let isBeginning):
      key.withText { key in
        value.withText { value in
          view.list.elements.first { element in
            element.item.members.contains { $0.key.isMeant(by: key, names) && isMatch($0.value, value, isBeginning) }
          }?.item
        }
      }
    case .element: nil
    }
  }

  private static func isMatch(_ member: JSONView, _ value: Text, _ isBeginning: Bool) -> Bool {
    guard let text = member.scalarText else { return false }
    if isBeginning { return text.starts(with: value) }
    return text == value || member.kind == .number && text.isEqualNumber(value)
  }
}

extension Text {
  /// Returns whether this text matches a name, or begins like it, if the map accepts spellings other than the exact
  /// one.
  func isMeant(by name: Text, _ names: MapNames, isBeginning: Bool = false) -> Bool {
    if isBeginning {
      return unsafe names != .exact && count > name.count
        && slice(0, name.count).isEqualIgnoringASCIICase(to: name.bytes)
    }
    if names != .similar { return unsafe names == .anyCase && isEqualIgnoringASCIICase(to: name.bytes) }
    var (at, wanted) = (0, 0)
    while true {
      while at < count, self[at] == UInt8(ascii: "_") { at += 1 }
      while wanted < name.count, name[wanted] == UInt8(ascii: "_") { wanted += 1 }
      guard wanted < name.count else { return at == count }
      guard at < count, Text.lowered(self[at]) == Text.lowered(name[wanted]) else { return false }
      (at, wanted) = (at + 1, wanted + 1)
    }
  }

  /// Whether the text consists of digits only.
  @inline(__always)
  var isPlainInteger: Bool {
    for index in 0..<count where self[index] &- UInt8(ascii: "0") > 9 { return false }
    return count > 0
  }

  /// Returns whether both texts are numbers with the same value but written differently (reference formats 6.3).
  @inline(never)
  func isEqualNumber(_ other: Text) -> Bool {
    if isPlainInteger && other.isPlainInteger || !other.isJSONNumber { return false }
    guard let own = DecimalText(self), let wanted = DecimalText(other) else { return false }
    return own.value == wanted.value
  }
}

extension JSONView {
  /// The string, or a number or boolean as written; nil for anything else.
  @inline(__always)
  var scalarText: Text? {
    switch kind {
    case .string: string
    case .number: number
    case .yes: "true"
    case .no: "false"
    default: nil
    }
  }

  /// Whether the value is neither null nor an empty string, so that fields of maps can use it (reference formats 6.3).
  @inline(__always)
  var isGiven: Bool {
    switch kind {
    case .null: false
    case .string: string?.isEmpty == false
    default: true
    }
  }

  /// Whether the value is null, or an object whose members all are, at any depth (reference decisions 69).
  var isAbsent: Bool {
    kind == .null
      || kind == .object && members.contains { _ in true } && members.allSatisfy { $0.value.isAbsent }
  }

  /// Whether the value is given (``isGiven``) and, for an array or object, at least one value inside it is there. An
  /// empty object counts; an empty array does not.
  var isThere: Bool {
    switch kind {
    case .array: elements.contains(where: \.isThere)
    case .object: !members.contains { _ in true } || members.contains { $0.value.isThere }
    default: isGiven
    }
  }
}
