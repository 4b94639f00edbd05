/// What becomes of the events of a request whose answer was lost (reference formats 4.3).
package enum UnknownOutcomePolicy: String, CaseIterable, Sendable {
  case resend, hold
}

/// What becomes of a record that is older than what an earlier run has processed for its device.
package enum LateRecordPolicy: String, CaseIterable, Sendable {
  /// Its event goes out by its own time; sessions and campaigns are not rewound.
  case accept
  case quarantine
}

/// How ids and other personal data stand in reports.
package enum PersonalDataPolicy: String, CaseIterable, Codable, Sendable {
  /// Left out.
  case omit
  /// Replaced by 16 hexadecimal digits that are the same in all reports on one store and tell nothing without its key.
  case hash
  /// As recorded.
  case clear
}

/// Two customers that are both known meet on one device.
package enum KnownToKnownPolicy: String, CaseIterable, Sendable {
  /// The device moves over to the other recipient; neither is marked as merged.
  case reassign
  case merge
  /// Left to an operator.
  case hold
}

/// A customer nobody knows signs in on a device whose recipient already carries another customer's ids.
package enum SharedDevicePolicy: String, CaseIterable, Sendable {
  case keep, replace
}

/// A device records another mobile user id than before (reference decisions 58).
package enum NewUserPolicy: String, CaseIterable, Sendable {
  /// It is another person's from that record on.
  case person
  /// It is another name of the same person, whose recipient gets it.
  case rename
}

/// How to choose between routes of deep links that all match.
package enum RouteOrderPolicy: String, CaseIterable, Sendable {
  /// Literals before placeholders with an expression before free ones, from left to right; then the file's order.
  case literalFirst = "literal-first"
  /// The file's order, as on Android.
  case file
}

/// How a webhook wants to be told.
public enum AlarmForm: String, CaseIterable, Sendable {
  case json, slack, teams
}
