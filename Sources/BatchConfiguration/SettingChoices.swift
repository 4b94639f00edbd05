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
