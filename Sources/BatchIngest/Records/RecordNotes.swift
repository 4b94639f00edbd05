package import BatchFoundation

/// Observations made about a record before it is processed.
public struct RecordNotes: OptionSet, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The id was a placeholder that identifies nobody, and counts as empty (reference decisions 55).
  public static let mobileUserId = RecordNotes(rawValue: 1)
  public static let anonymousId = RecordNotes(rawValue: 2)
  public static let recipientId = RecordNotes(rawValue: 4)
  public static let userId = RecordNotes(rawValue: 8)
  /// The same for a value of `ids`.
  public static let ids = RecordNotes(rawValue: 128)
  package static let unlikelyIDs: RecordNotes = [.mobileUserId, .anonymousId, .recipientId, .userId, .ids]
  /// The record has a key, from its identity or from the `recordId` that a map read.
  static let hasRecordKey = RecordNotes(rawValue: 16)
  /// Another record, more than an hour away, has the same `recordId`.
  package static let isAgain = RecordNotes(rawValue: 32)
  /// An earlier run accepted a later record with the same identity, which this one replaces (reference decisions 71).
  package static let replaces = RecordNotes(rawValue: 64)

  package var unlikelyFields: [String] {
    [
      ("mobileUserId", Self.mobileUserId), ("anonymousId", .anonymousId), ("recipientId", .recipientId),
      ("userId", .userId), ("ids", .ids),
    ]
    .filter { contains($0.1) }.map(\.0)
  }
}

extension Text {
  /// Whether the text is a placeholder that software writes for a missing id: a zero UUID, some language's null, or
  /// blanks.
  package var namesNobody: Bool {
    switch count {
    case 4: if self == "null" || self == "NULL" { return true }
    case 2: if self == "\\N" { return true }
    case 6: if self == "(null)" { return true }
    case 9: if self == "undefined" { return true }
    case 32: if unsafe bytes.allSatisfy({ $0 == UInt8(ascii: "0") }) { return true }
    case 36: if self == "00000000-0000-0000-0000-000000000000" { return true }
    default: break
    }
    return unsafe count > 0 && self[0].isBlank && bytes.allSatisfy(\.isBlank)
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self <= 0x20 }
}

/// The keys of `recordId`s, which identify equal records when an export read with a map is received twice (reference
/// decisions 57). The identities of stored events are kept in the same way, so that the first in order can count (71).
package enum RecordIDs {
  /// The maximum time in milliseconds between records with one id that count as equal.
  static let span: Int64 = 3_600_000

  /// Returns the store's bucket for record ids; these buckets follow those for lines. Entries are made by
  /// ``entry(_:at:)``.
  package static func bucket(of bucket: Int) -> Int { DeviceHash.bucketCount + bucket }

  package static func entry(_ key: UInt64, at milliseconds: Int64) -> LineDigest {
    LineDigest(high: key, low: UInt64(bitPattern: milliseconds))
  }

  /// Returns a number computed from device, type, name or URL, and `recordId`; 0 if there is no `recordId`.
  @inline(__always)
  static func key(of line: JSONView, _ head: borrowing RecordHead, _ kind: InputKind) -> UInt64 {
    var (id, subject, code): (Text, Text, Text) = (.empty, .empty, .empty)
    var hasType = false
    var members = line.members
    while let (name, value) = members.next() {
      switch name.count {
      case 3 where name == "url": subject = value.string ?? .empty
      case 4 where name == "name": subject = value.string ?? .empty
      case 4 where name == "type": hasType = true
      case 8 where name == "recordId": id = value.string ?? value.number ?? .empty
      case 13 where name == "eventTypeCode": code = value.string ?? value.number ?? .empty
      default: break
      }
    }
    if id.isEmpty { return 0 }
    if !hasType, kind == .events { subject = code }
    let types = UInt64(kind.rawValue) << 16 | UInt64(head.ignoredType) << 8 | UInt64(head.type)
    let key = [head.device, subject, id].reduce(types) {
      ByteMix.fold($0 ^ ByteMix.s0, ByteMix.oneLane($1) ^ ByteMix.s1)
    }
    return max(key, 1)
  }
}
