package import BatchFoundation
import BatchJSON

/// Why a line is no record.
package struct Rejection: Error, Equatable {
  package var reason: QuarantineReason
  /// The field concerned, or nil.
  package var field: String?
  /// Where in the line, in bytes from its first; nil when that says nothing.
  package var offset: Int?

  package init(reason: QuarantineReason, field: String? = nil, offset: Int? = nil) {
    self.reason = reason
    self.field = field
    self.offset = offset
  }

  /// What exactly, in words that hold nothing of the line's values.
  package var detail: String {
    if let field { return "field '\(field)'" }
    if let offset { return "at byte \(offset + 1) of the line" }
    return ""
  }
}

/// Reads single lines of an export as records (reference formats 3.3); keeps its working memory from line to line.
package struct RecordDecoder: ~Copyable {
  private var reader = JSONLineReader()
  var tape = JSONTape()
  var fields = RecordFields()
  var unknown = UnknownFields()
  /// A longer line is refused unread; in bytes, without the line end.
  private let longestLine: Int

  /// Memory that a long line made the tape take and that ``relax()`` gives back.
  private static let ordinaryTape = 1 << 22

  package init(maxLineBytes: Int = 16 << 20) { longestLine = maxLineBytes }

  /// Fields of accepted records that the format does not know, by name.
  package var unknownFields: [UnknownField] { unknown.sorted }

  /// Reads one line.
  ///
  /// - Parameters:
  ///   - line: the bytes without the line end; white space at both ends is ignored.
  ///   - record: set when nil is returned. Its text lives until the next call, in the decoder or, for plain text lines, in `line`.
  /// - Returns: nil for a record, else the first reason of the list that applies to the line as a whole.
  package mutating func decode(
    _ line: UnsafeBufferPointer<UInt8>, kind: InputKind, position: RecordPosition, into record: inout Record
  ) -> Rejection? {
    if line.count > longestLine { return Rejection(reason: .lineTooLong) }
    unknown.drop()
    tape.reset(keeping: Self.ordinaryTape)
    if let offset = firstInvalidUTF8(line) { return Rejection(reason: .invalidUTF8, offset: offset) }
    guard let base = line.baseAddress else { return Rejection(reason: .invalidJSON, offset: 0) }
    let text = Text(base: base, count: line.count).trimmed
    if kind == .deepLinks, text.isEmpty || text[0] != UInt8(ascii: "{") {
      return decodePlainLink(Text(base: base, count: line.count), position, &record)
    }
    let flaws: JSONFlaws
    do {
      flaws = try reader.read(line, onto: &tape)
    } catch {
      if let offset = error.unpairedSurrogate { return Rejection(reason: .invalidUTF8, offset: offset) }
      return Rejection(reason: .invalidJSON, offset: error.offset)
    }
    let view = tape.view(at: 0)
    if flaws.hasAny || view.kind != .object, let fault = Self.rejection(flaws, view) { return fault }
    fields.read(view, unknown: &unknown)
    let faults = build(kind, position, &record)
    if let rejection = faults.first { return rejection }
    unknown.commit()
    return nil
  }

  @inline(never)
  private static func rejection(_ flaws: JSONFlaws, _ view: JSONView) -> Rejection? {
    if let offset = flaws.unpairedSurrogate { return Rejection(reason: .invalidUTF8, offset: offset) }
    if view.kind != .object { return Rejection(reason: .notAnObject) }
    if let offset = flaws.tooDeep { return Rejection(reason: .tooDeep, offset: offset) }
    if let offset = flaws.duplicateKey { return Rejection(reason: .duplicateKey, offset: offset) }
    if let offset = flaws.nulCharacter { return Rejection(reason: .nulCharacter, offset: offset) }
    if let offset = flaws.numberOutOfRange { return Rejection(reason: .numberOutOfRange, offset: offset) }
    return nil
  }
}

/// What is wrong with the fields of one line, the first of each kind; of several kinds the order of reasons decides.
package struct FieldFaults {
  private var missing: StaticString?
  private var wrong: StaticString?
  private var timestamp: StaticString?
  private var unknown: StaticString?

  package mutating func missing(_ name: StaticString) { if missing == nil { missing = name } }
  package mutating func wrong(_ name: StaticString) { if wrong == nil { wrong = name } }
  package mutating func badTimestamp(_ name: StaticString) { if timestamp == nil { timestamp = name } }
  package mutating func unknown(_ name: StaticString) { if unknown == nil { unknown = name } }

  package init() {}

  package var first: Rejection? {
    if let missing { return Rejection(reason: .missingField, field: "\(missing)") }
    if let wrong { return Rejection(reason: .wrongType, field: "\(wrong)") }
    if let timestamp { return Rejection(reason: .invalidTimestamp, field: "\(timestamp)") }
    if let unknown { return Rejection(reason: .unknownType, field: "\(unknown)") }
    return nil
  }
}

extension Text {
  /// The text without the white space of JSON at both ends: space, tab, line feed, carriage return.
  @inline(__always)
  var trimmed: Text {
    var start = 0
    var end = count
    while start < end, self[start].isLineSpace { start += 1 }
    while end > start, self[end - 1].isLineSpace { end -= 1 }
    return slice(start, end)
  }
}

extension UInt8 {
  @inline(__always)
  var isLineSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
