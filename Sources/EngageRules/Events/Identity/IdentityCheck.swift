package import BatchFoundation

/// A record that concerns the recipient of its device, as the rules pass it on: who the device is at that moment, and what to look
/// for or to do.
///
/// Owned values: it outlives the partition it came from and is kept in the store until the check is finished.
package struct IdentityCheck: Sendable, Equatable {
  package var device: String
  package var timestamp: Instant
  /// Events of the device with a greater emission number come after the check and carry its result.
  package var emission: Int64
  /// Nil for an `identify` record.
  package var instruction: ContactInstruction?
  /// Column name and value in the order of the record; empty for an instruction.
  package var ids: [IdentityColumn]
  package var mobileUserId: String
  package var anonymousId: String
  package var recipientId: String
  /// The record; nil where nobody kept it.
  package var source: RecordSource?

  package init(
    device: String, timestamp: Instant, emission: Int64, instruction: ContactInstruction? = nil, ids: [IdentityColumn],
    mobileUserId: String, anonymousId: String, recipientId: String, source: RecordSource? = nil
  ) {
    self.device = device
    self.timestamp = timestamp
    self.emission = emission
    self.instruction = instruction
    self.ids = ids
    self.mobileUserId = mobileUserId
    self.anonymousId = anonymousId
    self.recipientId = recipientId
    self.source = source
  }
}

/// Whom a device records from one of its records on, for the set-up of a recipient (reference decisions 58).
package struct DeviceSetup: Sendable, Equatable {
  package var device: String
  /// Of the record; set-ups are made in this order.
  package var firstSeen: Instant
  /// Events of the device from this number on are the person's; nil for a record of long ago, which speaks for its own event alone.
  package var fromEmission: Int64?
  /// Empty when there is none and none may be generated.
  package var mobileUserId: String
  /// Empty when no record named one for the person.
  package var recipientId: String
  /// The record; nil where nobody kept it.
  package var source: RecordSource?

  package init(
    device: String, firstSeen: Instant, fromEmission: Int64? = 0, mobileUserId: String, recipientId: String,
    source: RecordSource? = nil
  ) {
    self.device = device
    self.firstSeen = firstSeen
    self.fromEmission = fromEmission
    self.mobileUserId = mobileUserId
    self.recipientId = recipientId
    self.source = source
  }
}

/// An event that carries who its device was at an earlier moment: the end of a session, as of its pause, where identity checks
/// came between (reference decisions 30).
package struct IdentityMoment: Sendable, Equatable {
  /// The bytes of its id.
  package var device: [UInt8]
  /// Of the event.
  package var emission: Int64
  /// What was found out from a greater emission number on does not concern the event.
  package var asOf: Int64

  package init(device: [UInt8], emission: Int64, asOf: Int64) {
    self.device = device
    self.emission = emission
    self.asOf = asOf
  }
}

package struct IdentityColumn: Sendable, Equatable {
  package var name: String
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// Whether the value is nothing but white space, which is none.
  package var isBlank: Bool { value.utf8.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) } }
}

/// The newest geocoded place of a device with a mobile user id, for the one pending database update per device (reference events 5.4).
package struct LastKnownLocation: Sendable, Equatable {
  package var device: String
  package var mobileUserId: String
  package var recipientId: String
  /// The formatted address; empty when the placemark had none.
  package var address: String
  package var at: Instant

  package init(device: String, mobileUserId: String = "", recipientId: String, address: String, at: Instant) {
    self.device = device
    self.mobileUserId = mobileUserId
    self.recipientId = recipientId
    self.address = address
    self.at = at
  }
}

/// What a record asks to be done with the recipient of its device, beside saying who it is (reference identity 5.7).
package enum ContactInstruction: Sendable, Equatable {
  /// Into the contact list of this id.
  case contactList(String)
  /// Into the program of this id.
  case program(String)
  case optOut
  case optIn

  /// As the store and listings name it; the types of the records.
  package var name: String {
    switch self {
    case .contactList: "contactList"
    case .program: "program"
    case .optOut: "optOut"
    case .optIn: "optIn"
    }
  }

  /// The id of the list or program; empty for the others.
  package var target: String {
    switch self {
    case .contactList(let id), .program(let id): id
    case .optOut, .optIn: ""
    }
  }

  /// Nil for a name that is none of these.
  package init?(name: String, target: String) {
    switch name {
    case "contactList": self = .contactList(target)
    case "program": self = .program(target)
    case "optOut": self = .optOut
    case "optIn": self = .optIn
    default: return nil
    }
  }

  /// What takes it back; nil where the API has no way.
  package var reversed: ContactInstruction? {
    switch self {
    case .contactList, .program: nil
    case .optOut: .optIn
    case .optIn: .optOut
    }
  }
}

/// The mobile user id of a device that has none: UUIDv5 of the device id, upper case, the same on every run and machine
/// (reference decisions 6).
package enum AutomaticMobileUserId {
  package static func id(of device: Text) -> String { unsafe id(of: Array(device.bytes)) }

  package static func id(of device: String) -> String { id(of: Array(device.utf8)) }

  /// Equal for ids of one person: iOS wrote UUIDs in upper case and Android in lower case.
  package static func key(of id: String) -> String {
    let bytes = Array(id.utf8)
    let isUUID =
      bytes.count == 36
      && bytes.indices.allSatisfy { place in
        [8, 13, 18, 23].contains(place)
          ? bytes[place] == UInt8(ascii: "-")
          : 0x30...0x39 ~= bytes[place] || 0x61...0x66 ~= bytes[place] | 0x20
      }
    return isUUID ? id.uppercased() : id
  }

  private static func id(of device: [UInt8]) -> String { NameUUID(of: device, in: .program).text.uppercased() }
}

extension PersonID.Kind {
  /// Of a recipient of the list.
  package static let recipient = Self("recipient")
  /// Mobile user ids, those of anonymous users as well.
  package static let mobileUserID = Self("mobile-user-id")

  /// By what Engage knows people; a `user` is an id of an `identify` record.
  package static let ofEngage: [Self] = [.device, .recipient, .mobileUserID, .user]
}
