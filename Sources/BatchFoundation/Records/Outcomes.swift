/// A line that was quarantined, or an event (reference formats 3.7).
public struct QuarantinedLine: Sendable, Equatable {
  /// Of an event what ``place(ofEvent:)`` says.
  public var file: String
  /// From 1; 0 when the reason concerns the file.
  public var line: UInt64
  /// Offset of the line's first byte in the (decompressed) file.
  public var offset: UInt64
  public var reason: QuarantineReason
  /// What exactly, without any of the line's values.
  public var detail: String
  /// The bytes of the line as they stood, without the line end; cut at 64 KiB for an over-long line.
  public var raw: [UInt8]
  /// The input that the line was read as; nil for what is not a line of an input.
  public var kind: InputKind?
  /// The event as its platform keeps events, to be checked again; nil for what is not an event, or was sent already.
  public var block: [UInt8]?
  /// Where the record was read that led to an event; nil for lines, and where nobody knows.
  public var source: RecordSource?

  public init(
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
public enum QuarantineReason: String, CaseIterable, Codable, Sendable {
  case lineTooLong = "line-too-long"
  case invalidUTF8 = "invalid-utf8"
  case invalidJSON = "invalid-json"
  case notAnObject = "not-an-object"
  case tooDeep = "too-deep"
  case duplicateKey = "duplicate-key"
  case nulCharacter = "nul-character"
  case numberOutOfRange = "number-out-of-range"
  /// A row of a table that has more fields than the table has columns, or a quote that is never closed.
  case invalidRow = "invalid-row"
  /// A foreign record that no rule of its map takes.
  case noRule = "no-rule"
  case missingField = "missing-field"
  case wrongType = "wrong-type"
  case invalidTimestamp = "invalid-timestamp"
  case unknownType = "unknown-type"
  case damagedFile = "damaged-file"
  /// The file is no lines of JSON at all, but another form of text, which is said once.
  case otherForm = "other-form"
  /// Older than what an earlier run processed, with `Ingest.lateRecords` = `quarantine`.
  case lateRecord = "late-record"
  /// The service accepted the event and refused it later, or refused it alone.
  case rejectedByService = "rejected-by-service"
  /// The event does not conform to the schema of its service, so it is not sent.
  case schemaInvalid = "schema-invalid"
  /// The record is of somebody who was forgotten: no reason of the quarantine, but an outcome of its own, kept nowhere.
  case forgotten
}

extension QuarantinedLine {
  /// An event, which no line of an input is.
  public init(event id: some CustomStringConvertible, reason: QuarantineReason, detail: String, raw: [UInt8]) {
    self.init(file: Self.place(ofEvent: id), line: 0, offset: 0, reason: reason, detail: detail, raw: raw)
  }

  /// What stands in ``file`` for an event: `event:` and its id.
  public static func place(ofEvent id: some CustomStringConvertible) -> String { "event:\(id)" }

  /// The id of the event that a ``file`` stands for; nil for a line's.
  public static func event(at file: String) -> String? {
    file.hasPrefix("event:") ? String(file.dropFirst("event:".count)) : nil
  }

  /// Where people look: the line, or the one that led to the event; `event:ID`, without a line, where that is not known.
  public var place: RecordSource { source ?? RecordSource(file: file, line: line) }

  /// ``detail`` behind the event whose place is told by a line.
  public var placedDetail: String { source == nil ? detail : "\(file): \(detail)" }

  /// About what the line takes in memory: a short one is mostly what stands around it.
  public var memory: Int { 256 + raw.count + detail.utf8.count + (block?.count ?? 0) }

  /// Bytes that are kept of a line that is too long.
  public static let keptOfLongLine = 1 << 16
}
