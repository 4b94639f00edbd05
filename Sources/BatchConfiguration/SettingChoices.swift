/// Who may read reports besides their owner.
package enum ReportMode: String, CaseIterable, Sendable {
  case owner = "0600"
  case group = "0640"
}

/// How a webhook wants to be told.
package enum AlarmForm: String, CaseIterable, Sendable {
  case json, slack, teams
}
