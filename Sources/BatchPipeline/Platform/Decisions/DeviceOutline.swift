/// What the events of one device say in short, for whoever compares or tests runs.
package struct DeviceOutline: Sendable, Equatable {
  /// Times are as events have them; nil for what no event said.
  package struct Session: Sendable, Equatable {
    /// Nil where the platform's sessions have none.
    package var id: String?
    package var start: String?
    package var end: String?
    /// Time of use.
    package var seconds: Int64?

    package init(id: String? = nil, start: String? = nil, end: String? = nil, seconds: Int64? = nil) {
      self.id = id
      self.start = start
      self.end = end
      self.seconds = seconds
    }
  }

  /// By code or name.
  package var events: [String: Int] = [:]
  package var sessions: [Session] = []
  /// Events that carry a campaign, by its name.
  package var campaigns: [String: Int] = [:]

  package init() {}
}

/// Something that the rules of a job can do.
package struct RuleCoverage: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case rule, route, trigger
  }

  package var kind: Kind
  /// In words, or as its file names it.
  package var name: String
  /// How often it was done.
  package var count: Int

  package init(_ kind: Kind, _ name: String, _ count: Int) {
    self.kind = kind
    self.name = name
    self.count = count
  }
}
