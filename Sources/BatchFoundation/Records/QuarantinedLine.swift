/// A quarantined line or event (reference formats 3.7).
public struct QuarantinedLine: Sendable, Equatable {
  /// The path of the file; for an event, the result of ``place(ofEvent:)``.
  public var file: String
  /// The line number from 1; 0 if the reason concerns the whole file.
  public var line: UInt64
  /// The offset of the line's first byte in the (decompressed) file.
  public var offset: UInt64
  public var reason: QuarantineReason
  /// The details of the reason, without any values from the line.
  public var detail: String
  /// The line's original bytes without the line ending; truncated to 64 KiB if the line is too long.
  public var raw: [UInt8]
  /// The kind of input that the line belongs to; nil for anything other than a line of an input.
  public var kind: InputKind?
  /// The event as its platform stores it, so that it can be checked again; nil for lines and for events
  /// already sent.
  public var block: [UInt8]?
  /// The place of the record that led to an event; nil for lines, and for events whose record is unknown.
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

/// The reason a line was quarantined. If several apply, the first case counts (reference formats 3.7).
public enum QuarantineReason: String, CaseIterable, Codable, Sendable {
  case lineTooLong = "line-too-long"
  case invalidUTF8 = "invalid-utf8"
  case invalidJSON = "invalid-json"
  case notAnObject = "not-an-object"
  case tooDeep = "too-deep"
  case duplicateKey = "duplicate-key"
  case nulCharacter = "nul-character"
  case numberOutOfRange = "number-out-of-range"
  /// A table row with more fields than columns, text after a closing quote, or a quote that is never closed.
  case invalidRow = "invalid-row"
  /// A foreign record that no rule of its map matches.
  case noRule = "no-rule"
  case missingField = "missing-field"
  case wrongType = "wrong-type"
  case invalidTimestamp = "invalid-timestamp"
  case unknownType = "unknown-type"
  case damagedFile = "damaged-file"
  /// A file in a format other than lines of JSON; reported once per file.
  case otherForm = "other-form"
  /// A record older than one that an earlier run processed for its device, if `Ingest.lateRecords` is `quarantine`.
  case lateRecord = "late-record"
  /// An event that the service accepted and later rejected, or that it rejected individually.
  case rejectedByService = "rejected-by-service"
  /// An event that violates its service's schema and is therefore not sent.
  case schemaInvalid = "schema-invalid"
  /// A record of a forgotten person. This is not a quarantine reason but a separate outcome, stored nowhere.
  case forgotten
}

extension QuarantinedLine {
  /// Creates the entry for an event rather than for an input line.
  public init(event id: some CustomStringConvertible, reason: QuarantineReason, detail: String, raw: [UInt8]) {
    self.init(file: Self.place(ofEvent: id), line: 0, offset: 0, reason: reason, detail: detail, raw: raw)
  }

  /// Returns the ``file`` of an event's entry: `event:` and its id.
  public static func place(ofEvent id: some CustomStringConvertible) -> String { "event:\(id)" }

  /// Returns the id of the event that a ``file`` refers to; nil for the file of a line.
  public static func event(at file: String) -> String? {
    file.hasPrefix("event:") ? String(file.dropFirst("event:".count)) : nil
  }

  /// The place shown to users: the line or, for an event, the line that led to it; if unknown, `event:ID` and line 0.
  public var place: RecordSource { source ?? RecordSource(file: file, line: line) }

  /// The ``detail``; for an event whose ``place`` is the line that led to it, preceded by the event.
  public var placedDetail: String { source == nil ? detail : "\(file): \(detail)" }

  /// The approximate memory use in bytes; short lines are mostly overhead.
  public var memory: Int { 256 + raw.count + detail.utf8.count + (block?.count ?? 0) }

  /// The number of bytes kept of an over-long line.
  public static let keptOfLongLine = 1 << 16
}
