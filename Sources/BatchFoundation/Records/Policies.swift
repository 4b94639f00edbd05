/// The treatment of the events in a request whose response was lost (reference formats 4.3).
package enum UnknownOutcomePolicy: String, CaseIterable, Sendable {
  case resend, hold
}

/// The treatment of a late record, which is older than one that an earlier run processed for the same device.
package enum LateRecordPolicy: String, CaseIterable, Sendable {
  /// Its event is sent with its original time; sessions and campaigns are not rewound.
  case accept
  case quarantine
}

/// The treatment of ids and other personal data in reports.
package enum PersonalDataPolicy: String, CaseIterable, Codable, Sendable {
  case omit
  /// Replaced with 16 hexadecimal digits, which are the same in all reports from a store and meaningless without its
  /// key.
  case hash
  case clear
}

/// The treatment of two known customers who appear on one device.
package enum KnownToKnownPolicy: String, CaseIterable, Sendable {
  /// The device moves to the other recipient; neither is marked as merged.
  case reassign
  case merge
  /// The case is left to an operator.
  case hold
}

/// The treatment of an unknown customer who signs in on a device whose recipient has another customer's ids.
package enum SharedDevicePolicy: String, CaseIterable, Sendable {
  case keep, replace
}

/// The treatment of a device that records a new mobile user id (reference decisions 58).
package enum NewUserPolicy: String, CaseIterable, Sendable {
  /// The device belongs to another person from that record on.
  case person
  /// The id is another name for the same person, so it is added to that person's recipient.
  case rename
}

/// The environments of deltaDNA, which differ in the events that they accept.
package enum GameEnvironment: String, CaseIterable, Sendable {
  /// Published events only.
  case live = "LIVE"
  case development = "DEV"
}

/// The choice between several matching deep-link routes.
package enum RouteOrderPolicy: String, CaseIterable, Sendable {
  /// Routes are compared part by part, from left to right: literals come first, then placeholders with an expression,
  /// then other placeholders. If routes are still equal, one with a host comes first; otherwise the order in the file
  /// counts.
  case literalFirst = "literal-first"
  /// The order in the file, as on Android.
  case file
}

/// The message format of a webhook.
public enum AlarmForm: String, CaseIterable, Sendable {
  case json, slack, teams
}

/// An id that identifies a person, with its kind.
public struct PersonID: Hashable, Sendable {
  /// The kind of an id, as commands and listings name it.
  public struct Kind: Hashable, Sendable {
    public var name: String

    public init(_ name: String) { self.name = name }

    public static let device = Kind("device")
    public static let user = Kind("user")
  }

  public var kind: Kind
  /// The id, not empty.
  public var value: ByteText

  public init(_ kind: Kind, _ value: String) {
    self.kind = kind
    self.value = ByteText(value)
  }

  public var bytes: [UInt8] { Array(value.string.utf8) }
}

package struct RunSetting: Sendable, Equatable, Codable {
  package var name: String
  package var value: String
  /// The layer, file and line that set the value.
  package var origin: String

  package init(name: String, value: String, origin: String) {
    self.name = name
    self.value = value
    self.origin = origin
  }
}
