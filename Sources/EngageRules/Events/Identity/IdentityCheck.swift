package import BatchFoundation

/// A record about the recipient of its device: the device's ids at that moment, and what to look up or do. It owns its
/// values, because it outlives its partition and stays in the store until the check is finished.
package struct IdentityCheck: Sendable, Equatable {
  package var device: String
  package var timestamp: Instant
  /// The emission number of the check; events with a greater number carry its result.
  package var emission: Int64
  /// The requested change; nil for an `identify` record.
  package var instruction: ContactInstruction?
  /// The column names and values, in their order in the record; empty for an instruction.
  package var ids: [ColumnValue]
  package var mobileUserId: String
  package var anonymousId: String
  package var recipientId: String
  /// The record; nil if it was not kept.
  package var source: RecordSource?

  package init(
    device: String, timestamp: Instant, emission: Int64, instruction: ContactInstruction? = nil, ids: [ColumnValue],
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

/// The owner of a device from one of its records on, for whom a recipient is set up (reference decisions 58).
package struct DeviceSetup: Sendable, Equatable {
  package var device: String
  /// The instant of the record; set-ups are processed in this order.
  package var firstSeen: Instant
  /// The emission number from which events belong to the person; nil for a late record, which affects only its own
  /// event.
  package var fromEmission: Int64?
  /// The mobile user id; empty if none is recorded and none may be generated.
  package var mobileUserId: String
  /// The recipient; empty if no record named one for the person.
  package var recipientId: String
  /// The record; nil if it was not kept.
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

/// An event that carries its device's identity as of an earlier moment. The end of a session carries the identity as of
/// its pause if identity checks came in between (reference decisions 30).
package struct IdentityMoment: Sendable, Equatable {
  /// The bytes of the device id.
  package var device: [UInt8]
  package var emission: Int64
  /// The last emission number that counts: later identity results do not concern the event.
  package var asOf: Int64
}

/// The name and value of a column. Compared by bytes; the service treats names as case-sensitive.
package struct ColumnValue: Sendable, Hashable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  package static func == (one: ColumnValue, other: ColumnValue) -> Bool {
    one.name.utf8.elementsEqual(other.name.utf8) && one.value.utf8.elementsEqual(other.value.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in name.utf8 { hasher.combine(byte) }
    for byte in value.utf8 { hasher.combine(byte) }
  }

  /// Whether the value is empty or only white space, and so counts as missing.
  package var isBlank: Bool { value.utf8.allSatisfy(\.isASCIIWhitespace) }
}

/// The latest geocoded place of a device, for its pending update at the service (reference events 5.4).
package struct LastKnownLocation: Sendable, Equatable {
  package var device: String
  package var mobileUserId: String
  package var recipientId: String
  /// The formatted address; empty if the placemark had none.
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

/// A change to the recipient of a device, requested by a record (reference identity 5.7).
package enum ContactInstruction: Sendable, Equatable {
  /// Adds the recipient to the contact list with this id.
  case contactList(String)
  /// Adds the recipient to the program with this id.
  case program(String)
  case optOut
  case optIn

  /// The name in the store and in listings: the type of the record.
  package var name: String {
    switch self {
    case .contactList: "contactList"
    case .program: "program"
    case .optOut: "optOut"
    case .optIn: "optIn"
    }
  }

  /// The id of the list or program; empty for other instructions.
  package var target: String {
    switch self {
    case .contactList(let id), .program(let id): id
    case .optOut, .optIn: ""
    }
  }

  /// Returns nil for an unknown name.
  package init?(name: String, target: String) {
    switch name {
    case "contactList": self = .contactList(target)
    case "program": self = .program(target)
    case "optOut": self = .optOut
    case "optIn": self = .optIn
    default: return nil
    }
  }

  /// The instruction that reverses this one; nil if the API has none.
  package var reversed: ContactInstruction? {
    switch self {
    case .contactList, .program: nil
    case .optOut: .optIn
    case .optIn: .optOut
    }
  }
}

/// The mobile user id generated for a device without one: the UUIDv5 of the device id, in upper case (reference
/// decisions 6).
package enum AutomaticMobileUserId {
  package static func id(of device: Text) -> String { unsafe id(of: Array(device.bytes)) }

  package static func id(of device: String) -> String { id(of: Array(device.utf8)) }

  /// Returns a key that is equal for all spellings of an id: iOS wrote UUIDs in upper case and Android in lower case.
  package static func key(of id: String) -> String {
    isUUID(Array(id.utf8)) ? id.uppercased() : id
  }

  /// Returns whether the text is a UUID with hyphens, in either case.
  package static func isUUID(_ text: [UInt8]) -> Bool {
    text.count == 36
      && text.enumerated().allSatisfy { place, byte in
        [8, 13, 18, 23].contains(place) ? byte == UInt8(ascii: "-") : Hexadecimal.value(of: byte) != nil
      }
  }

  private static func id(of device: [UInt8]) -> String { device.withText { NameUUID.program.uuid($0).upperText } }
}

extension PersonID.Kind {
  package static let recipient = Self("recipient")
  /// The kind for mobile user ids, including those of anonymous users.
  package static let mobileUserID = Self("mobile-user-id")

  /// The kinds of ids by which Engage knows people; a `user` is an id in an `identify` record.
  package static let ofEngage: [Self] = [.device, .recipient, .mobileUserID, .user]
}
