/// A summary of one device's events, for comparing or testing runs.
package struct DeviceOutline: Sendable, Equatable {
  /// A session, with times as in the events; nil if no event has them.
  package struct Session: Sendable, Equatable {
    /// The id; nil if the platform's sessions have none.
    package var id: String?
    package var start: String?
    package var end: String?
    /// The time of use.
    package var seconds: Int64?

    package init(id: String? = nil, start: String? = nil, end: String? = nil, seconds: Int64? = nil) {
      self.id = id
      self.start = start
      self.end = end
      self.seconds = seconds
    }
  }

  /// The numbers of events, by code or name.
  package var events: [String: Int] = [:]
  package var sessions: [Session] = []
  /// The number of events that carry a campaign, by its name.
  package var campaigns: [String: Int] = [:]

  package init() {}
}

/// A capability of a job's rules.
package struct RuleCoverage: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case rule, route, trigger
  }

  package var kind: Kind
  /// A description, or the name in its file.
  package var name: String
  package var count: Int

  package init(_ kind: Kind, _ name: String, _ count: Int) {
    self.kind = kind
    self.name = name
    self.count = count
  }
}
