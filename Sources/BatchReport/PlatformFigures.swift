import BatchFoundation

/// Figures that only one platform counts: a member of the summary with further members.
package struct PlatformFigures: Sendable, Equatable, Codable {
  package struct Member: Sendable, Equatable, Codable {
    package var name: String
    package var value: Value

    package init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  package enum Value: Sendable, Equatable, Codable {
    case count(Int)
    /// Counts in the order of the summary.
    case counts([Member])

    /// Returns the figures of a run whose names begin with this name and a dot, named by the rest.
    package static func group(_ name: String, of figures: [String: Int]) -> Value {
      let prefix = "\(name)."
      let inside = figures.filter { $0.key.hasPrefix(prefix) }
        .map { Member(String($0.key.dropFirst(prefix.count)), .count($0.value)) }
      return .counts(inside.sorted { ByteText($0.name) < ByteText($1.name) })
    }
  }

  /// The name of the member in the summary.
  package var name: String
  package var members: [Member]

  package init(name: String, members: [Member]) {
    self.name = name
    self.members = members
  }

  var json: JSONNode { Self.json(members) }

  private static func json(_ members: [Member]) -> JSONNode {
    .object(
      members.map { member in
        switch member.value {
        case .count(let count): (member.name, .number(count))
        case .counts(let counts): (member.name, json(counts))
        }
      })
  }
}
