/// What becomes of the events of a request whose answer was lost (reference formats 4.3).
package enum UnknownOutcomePolicy: String, CaseIterable, Sendable {
  case resend, hold
}

/// What becomes of a record that is older than what an earlier run has processed for its device.
package enum LateRecordPolicy: String, CaseIterable, Sendable {
  case accept, quarantine
}

/// How ids and other personal data stand in reports.
package enum PersonalDataPolicy: String, CaseIterable, Sendable {
  case omit, hash, clear
}

/// Who may read reports besides their owner.
package enum ReportMode: String, CaseIterable, Sendable {
  case owner = "0600"
  case group = "0640"
}

/// How a webhook wants to be told.
package enum AlarmForm: String, CaseIterable, Sendable {
  case json, slack, teams
}
