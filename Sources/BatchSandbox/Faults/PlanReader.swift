package import BatchFoundation

/// An error in a fault or organization file, with its place.
package struct SandboxInputError: Error, Sendable, Equatable, CustomStringConvertible {
  /// For example `rules[2].point`; empty for the file as a whole.
  package var path: String
  package var reason: String

  package init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  package var description: String { path.utf8.isEmpty ? reason : "\(path): \(reason)" }

  /// Returns the error with the name of the file.
  package func inFile(_ file: String) -> SandboxInputError {
    SandboxInputError(path: "\(file.printable): error", reason: description.printable)
  }
}

/// Reads the members of an object one by one and tracks which are left. A wrong value throws ``SandboxInputError``.
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

  /// - Throws: ``SandboxInputError`` with line and column.
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

  private mutating func value<Value>(
    _ key: String, _ kind: String, _ read: (JSONNode) -> Value?
  ) throws -> Value? {
    guard let node = node(key) else { return nil }
    guard let value = read(node) else { throw error(key, "is not \(kind)") }
    return value
  }

  package mutating func string(_ key: String) throws -> String? { try value(key, "a string", \.string) }

  package mutating func integer(_ key: String, _ range: ClosedRange<Int64>) throws -> Int64? {
    try value(key, "an integer in \(range)") { $0.integer.flatMap { range.contains($0) ? $0 : nil } }
  }

  package mutating func double(_ key: String, _ range: ClosedRange<Double>) throws -> Double? {
    try value(key, "a number in \(range)") { $0.double.flatMap { range.contains($0) ? $0 : nil } }
  }

  package mutating func bool(_ key: String) throws -> Bool? { try value(key, "true or false", \.bool) }

  package mutating func array(_ key: String) throws -> [JSONNode]? { try value(key, "an array", \.array) }

  /// Reads a number from 1 on, or an array of them.
  package mutating func integers(_ key: String) throws -> [Int]? {
    try value(key, "a number of at least 1, or an array of them") { node in
      let numbers = (node.array ?? [node]).map { $0.integer.flatMap { $0 > 0 ? Int(exactly: $0) : nil } }
      let whole = numbers.compactMap { $0 }
      return whole.count == numbers.count ? whole : nil
    }
  }

  package mutating func strings(_ key: String) throws -> [String: String]? {
    guard let members = try value(key, "an object", \.members) else { return nil }
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

  /// Refuses members that were not read.
  ///
  /// - Throws: ``SandboxInputError`` for the first of them.
  package func finish() throws {
    if let unknown = rest.first { throw error(unknown.key, "is unknown") }
  }
}
