package import BatchFoundation
import EngageRules

/// How far the set-up of a person is; the numbers stand in the store, those below 2 are due.
package enum SetUpProgress: Int, Sendable {
  case waiting = 0
  /// A recipient may have been added; whether it was is to be read before another is.
  case adding = 1
  case ready = 2
  /// The id cannot be written, or an operator let its devices go: there will be no recipient.
  case impossible = 3
  /// Ready, and its recipient is whom the answer to an addition named: nobody has read yet whose it is.
  case added = 4
  /// No record names an id, and none was to be made for the device.
  case unnamed = 5
  /// Its recipient is one that records name.
  case recorded = 6

  package var isDue: Bool { self == .waiting || self == .adding }
}

/// Whom a mobile user id means, and the recipient that belongs to the id (reference decisions 58).
package struct Person: Sendable, Equatable {
  package var mobileUserId: String
  /// The device whose record named it first, the instant, and the number from which its events are the person's.
  package var device: String
  package var firstSeen: Instant
  package var fromEmission: Int64 = 0
  package var progress = SetUpProgress.waiting
  /// Empty until one is known.
  package var recipientId = ""
  /// The mobile user id that the recipient has, where the person's own went up in another one elsewhere; empty where it is the person's.
  package var knownAs = ""

  package static func key(_ id: String) -> String { AutomaticMobileUserId.key(of: id) }

  package var key: String { Self.key(mobileUserId) }

  var identity: DeviceIdentity {
    DeviceIdentity(recipientId: recipientId, mobileUserId: knownAs.isEmpty ? mobileUserId : knownAs)
  }
}

/// A device at one moment: whom it records then, and who that is at the service.
package struct KnownDevice: Sendable, Equatable {
  package var device: String
  package var person: Person
  package var identity: DeviceIdentity
}

extension KnownDevice {
  /// As the record of a check has it, and nobody has asked for.
  init(device: String, _ pending: PendingCheck) {
    let check = pending.check
    self.device = device
    person = Person(
      mobileUserId: check.mobileUserId, device: device, firstSeen: check.timestamp, fromEmission: check.emission + 1)
    identity = DeviceIdentity(recipientId: check.recipientId, mobileUserId: check.mobileUserId)
  }
}
