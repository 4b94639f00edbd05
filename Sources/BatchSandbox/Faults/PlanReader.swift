package import BatchFoundation

/// What is wrong with a fault or organization file, and where in it.
package struct SandboxInputError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Such as `rules[2].point`; empty for the file as a whole.
  package var path: String
  package var reason: String

  package init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  package var description: String { path.utf8.isEmpty ? reason : "\(path): \(reason)" }

  /// The same of a file that is named.
  package func inFile(_ file: String) -> SandboxInputError {
    SandboxInputError(path: "\(file.printable): error", reason: description.printable)
  }
}

/// Takes the members of an object one by one and knows which are left.
package struct PlanReader {
  package let path: String
  private let node: JSONNode
  private var rest: [JSONMember]

  package init(_ node: JSONNode, path: String) throws {
    guard let members = node.members else { throw SandboxInputError(path: path, reason: "is not an object") }
    self.node = node
    self.path = path
    rest = members
  }

  /// The root of a file.
  package static func parse(_ bytes: [UInt8]) throws -> JSONNode {
    do {
      return try JSONNode.parse(bytes)
    } catch {
      let place = LineStarts(bytes).position(of: error.offset)
      throw SandboxInputError(path: "", reason: "\(place.line):\(place.column): \(error.reason)")
    }
  }

  package func error(_ key: String, _ reason: String) -> SandboxInputError {
    SandboxInputError(path: path.utf8.isEmpty ? key : "\(path).\(key)", reason: reason)
  }

  package mutating func node(_ key: String) -> JSONNode? {
    guard let index = rest.firstIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) else { return nil }
    return rest.remove(at: index).value
  }

  package mutating func string(_ key: String) throws -> String? {
    guard let node = node(key) else { return nil }
    guard let text = node.string else { throw error(key, "is not a string") }
    return text
  }

  package mutating func integer(_ key: String, _ range: ClosedRange<Int64>) throws -> Int64? {
    guard let node = node(key) else { return nil }
    guard let number = node.integer, range.contains(number) else {
      throw error(key, "is not a whole number in \(range)")
    }
    return number
  }

  package mutating func double(_ key: String, _ range: ClosedRange<Double>) throws -> Double? {
    guard let node = node(key) else { return nil }
    guard let number = node.double, range.contains(number) else { throw error(key, "is not a number in \(range)") }
    return number
  }

  package mutating func bool(_ key: String) throws -> Bool? {
    guard let node = node(key) else { return nil }
    guard let flag = node.bool else { throw error(key, "is not true or false") }
    return flag
  }

  package mutating func array(_ key: String) throws -> [JSONNode]? {
    guard let node = node(key) else { return nil }
    guard let array = node.array else { throw error(key, "is not an array") }
    return array
  }

  /// A number, or an array of them.
  package mutating func integers(_ key: String) throws -> [Int]? {
    guard let node = node(key) else { return nil }
    let numbers = (node.array ?? [node]).map { $0.integer.flatMap { $0 > 0 ? Int(exactly: $0) : nil } }
    let whole = numbers.compactMap { $0 }
    guard whole.count == numbers.count else { throw error(key, "is not a number from 1 on, or an array of them") }
    return whole
  }

  package mutating func strings(_ key: String) throws -> [String: String]? {
    guard let node = node(key) else { return nil }
    guard let members = node.members else { throw error(key, "is not an object") }
    var strings: [String: String] = [:]
    for member in members {
      guard let text = member.value.string else { throw error("\(key).\(member.key)", "is not a string") }
      strings[member.key] = text
    }
    return strings
  }

  package mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, of type: Choice.Type
  ) throws -> Choice? where Choice.RawValue == String {
    try choice(key, of: Array(Choice.allCases))
  }

  package mutating func choice<Choice: RawRepresentable>(
    _ key: String, of choices: [Choice]
  ) throws -> Choice? where Choice.RawValue == String {
    guard let text = try string(key) else { return nil }
    guard let choice = choices.first(where: { $0.rawValue.isIdentical(to: text) }) else {
      let known = choices.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw error(key, "'\(text)' is not one of \(known)")
    }
    return choice
  }

  /// Refuses what nobody asked for.
  package func finish() throws {
    if let unknown = rest.first { throw error(unknown.key, "is not known here") }
  }
}
