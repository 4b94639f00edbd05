/// An `identify` record as the rules pass it on: which recipient the device has at that moment, and what to look for.
///
/// Owned values: it outlives the partition it came from and is kept in the store until the check is finished.
package struct IdentityCheck: Sendable, Equatable {
  package var device: String
  package var timestamp: Instant
  /// Events of the device with a greater emission number come after the check and carry its result.
  package var emission: Int64
  /// Column name and value in the order of the record.
  package var ids: [IdentityColumn]
  package var mobileUserId: String
  package var anonymousId: String
  package var recipientId: String

  package init(
    device: String, timestamp: Instant, emission: Int64, ids: [IdentityColumn], mobileUserId: String,
    anonymousId: String, recipientId: String
  ) {
    self.device = device
    self.timestamp = timestamp
    self.emission = emission
    self.ids = ids
    self.mobileUserId = mobileUserId
    self.anonymousId = anonymousId
    self.recipientId = recipientId
  }
}

/// A device that a run has seen, for the set-up of its recipient (reference identity 5.2).
package struct DeviceSetup: Sendable, Equatable {
  package var device: String
  /// Of the first record of the device that this run accepted; set-ups are made in this order.
  package var firstSeen: Instant
  /// As of the last record; empty when there is none and none may be generated.
  package var mobileUserId: String
  /// As of the last record; empty when no record named one.
  package var recipientId: String

  package init(device: String, firstSeen: Instant, mobileUserId: String, recipientId: String) {
    self.device = device
    self.firstSeen = firstSeen
    self.mobileUserId = mobileUserId
    self.recipientId = recipientId
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
}

/// The newest geocoded place of a device, for the one pending database update per device (reference events 5.4).
package struct LastKnownLocation: Sendable, Equatable {
  package var device: String
  package var recipientId: String
  /// The formatted address; empty when the placemark had none.
  package var address: String
  package var at: Instant

  package init(device: String, recipientId: String, address: String, at: Instant) {
    self.device = device
    self.recipientId = recipientId
    self.address = address
    self.at = at
  }
}

/// A line that was quarantined (reference formats 3.7).
package struct QuarantinedLine: Sendable, Equatable {
  package var file: String
  /// From 1; 0 when the reason concerns the file.
  package var line: UInt64
  /// Offset of the line's first byte in the (decompressed) file.
  package var offset: UInt64
  package var reason: QuarantineReason
  /// What exactly, without any of the line's values.
  package var detail: String
  /// The bytes of the line as they stood, without the line end; cut at 64 KiB for an over-long line.
  package var raw: [UInt8]
  /// The input that the line was read as; nil for what is not a line of an input.
  package var kind: InputKind?
  /// The event as its platform keeps events, to be checked again; nil for what is not an event, or was sent already.
  package var block: [UInt8]?

  package init(
    file: String, line: UInt64, offset: UInt64, reason: QuarantineReason, detail: String, raw: [UInt8],
    kind: InputKind? = nil
  ) {
    self.file = file
    self.line = line
    self.offset = offset
    self.reason = reason
    self.detail = detail
    self.raw = raw
    self.kind = kind
  }
}

/// Why a line was quarantined, in the order in which reasons apply (reference formats 3.7).
package enum QuarantineReason: String, CaseIterable, Sendable {
  case lineTooLong = "line-too-long"
  case invalidUTF8 = "invalid-utf8"
  case invalidJSON = "invalid-json"
  case notAnObject = "not-an-object"
  case tooDeep = "too-deep"
  case duplicateKey = "duplicate-key"
  case nulCharacter = "nul-character"
  case numberOutOfRange = "number-out-of-range"
  case missingField = "missing-field"
  case wrongType = "wrong-type"
  case invalidTimestamp = "invalid-timestamp"
  case unknownType = "unknown-type"
  case damagedFile = "damaged-file"
  /// Older than what an earlier run processed, with `Ingest.lateRecords` = `quarantine`.
  case lateRecord = "late-record"
  /// The service accepted the event and refused it later, or refused it alone.
  case rejectedByService = "rejected-by-service"
  /// The event does not conform to the schema of its service, so it is not sent.
  case schemaInvalid = "schema-invalid"
}

extension QuarantinedLine {
  /// About what the line takes in memory: a short one is mostly what stands around it.
  package var memory: Int { 256 + raw.count + detail.utf8.count + (block?.count ?? 0) }

  /// Bytes that are kept of a line that is too long.
  package static let keptOfLongLine = 1 << 16
}
