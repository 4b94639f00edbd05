package import BatchFoundation
import EngageRules

/// The progress of a person's set-up. The raw values are stored; those below 2 mean that the set-up is due.
package enum SetUpProgress: Int, Sendable {
  case pending = 0
  /// A recipient may have been added; a look-up must come before another addition.
  case adding = 1
  case ready = 2
  /// The id contains characters that XML cannot represent, so there will be no recipient.
  case impossible = 3
  /// Ready, with the recipient that the response to an addition named; no read has yet confirmed that it is the
  /// person's.
  case added = 4
  /// No record names an id, and none may be generated for the device.
  case unnamed = 5
  /// Records name the recipient.
  case recorded = 6

  package var isDue: Bool { self == .pending || self == .adding }
}

/// The person with a mobile user id, and the recipient that belongs to the id (reference decisions 58).
package struct Person: Sendable, Equatable {
  package var mobileUserId: String
  /// The device whose record first named the person, the instant of that record, and the emission number from which the
  /// device's events are the person's.
  package var device: String
  package var firstSeen: Instant
  package var fromEmission: Int64 = 0
  package var progress = SetUpProgress.pending
  /// The recipient; empty until one is known.
  package var recipientId = ""
  /// The mobile user id of the recipient into which the person's own recipient was merged elsewhere; otherwise empty.
  package var knownAs = ""

  package static func key(_ id: String) -> String { AutomaticMobileUserId.key(of: id) }

  package var key: String { Self.key(mobileUserId) }

  var identity: DeviceIdentity {
    DeviceIdentity(recipientId: recipientId, mobileUserId: knownAs.isEmpty ? mobileUserId : knownAs)
  }
}

/// A device at one moment: the person whom it records then, and that person's identity at the service.
package struct KnownDevice: Sendable, Equatable {
  package var device: String
  package var person: Person
  package var identity: DeviceIdentity
}

extension KnownDevice {
  /// The device according to the record of a check, before any look-up.
  init(device: String, _ pending: PendingCheck) {
    let check = pending.check
    self.device = device
    person = Person(
      mobileUserId: check.mobileUserId, device: device, firstSeen: check.timestamp, fromEmission: check.emission + 1)
    identity = DeviceIdentity(recipientId: check.recipientId, mobileUserId: check.mobileUserId)
  }
}
