package import BatchFoundation

/// Reads individual lines of an export (reference formats 3.3). It carries out the checks common to all platforms,
/// leaves the rest to the platform's decoder, and keeps its working memory from line to line.
package struct LineReader: ~Copyable {
  /// The decoder, which also packs the current record.
  package let decoder: any LineDecoder
  private let ignored: (records: RecordVocabulary.OwnRecords, decoder: any LineDecoder)?
  private var reader = JSONReader()
  private var tape = JSONTape()
  /// The maximum length of a line in bytes, without the line ending; longer lines are refused unread.
  private let longestLine: Int

  /// The number of bytes of tape memory to keep; any memory that a long line needs beyond that is freed with the next
  /// line.
  private static let ordinaryTape = 1 << 22

  package init(_ vocabulary: RecordVocabulary, maxLineBytes: Int = 16 << 20) {
    decoder = vocabulary.makeDecoder()
    ignored = vocabulary.ignored.map { ($0, $0.makeDecoder()) }
    longestLine = maxLineBytes
  }

  /// Reads one line.
  ///
  /// - Parameters:
  ///   - line: the bytes without the line ending; white space at either end is ignored.
  ///   - isASCII: whether the bytes are known to be ASCII.
  ///   - head: set if nil is returned. Its text lives in the reader or, for a plain link, in `line`, until the next
  ///     call.
  /// - Returns: nil for a record; otherwise the first ``QuarantineReason`` that applies to the line as a whole.
  package mutating func read(
    _ line: UnsafeBufferPointer<UInt8>, kind: InputKind, position: RecordPosition, isASCII: Bool = false,
    into head: inout RecordHead
  ) -> Rejection? {
    head.ignoredType = 0
    if line.count > longestLine { return Rejection(reason: .lineTooLong) }
    tape.reset(keeping: Self.ordinaryTape)
    if !isASCII, let offset = unsafe firstInvalidUTF8(line) { return Rejection(reason: .invalidUTF8, offset: offset) }
    guard let base = line.baseAddress else { return Rejection(reason: .invalidJSON, offset: 0) }
    let text = unsafe Text(base: base, count: line.count)
    let source = SourceLine(text: text.trimmed, kind: kind, position: position)
    if kind == .deepLinks, source.text.isEmpty || source.text[0] != UInt8(ascii: "{") {
      switch PlainLink.read(text) {
      case .success(let link): return decoder.decode(link, of: source, into: &head)
      case .failure(let rejection): return rejection
      }
    }
    if let fault = unsafe Self.parse(line, &reader, onto: &tape) { return fault }
    return decode(tape.view(at: 0), of: source, into: &head)
  }

  /// Reads a line of a block, which may already be parsed.
  mutating func read(_ line: BlockLine, position: RecordPosition, into head: inout RecordHead) -> Rejection? {
    head.notes = []
    head.recordKey = 0
    guard let values = line.values, unsafe line.bytes.count <= longestLine else {
      let rejection = unsafe read(line.bytes, kind: line.kind, position: position, isASCII: line.isASCII, into: &head)
      if rejection == nil, line.isMapped { note(tape.view(at: 0), line.kind, &head) }
      return rejection
    }
    head.ignoredType = 0
    let rejection = decode(
      values, of: SourceLine(text: line.text, kind: line.kind, position: position), into: &head)
    if rejection == nil { note(values, line.kind, &head) }
    return rejection
  }

  /// Mutating, because a reader of this size would be copied to be passed.
  @inline(__always)
  private mutating func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    guard let rejection = decoder.decode(object, of: line, into: &head) else { return nil }
    return ignored == nil ? rejection : ignore(object, line, rejection, &head)
  }

  /// Turns a refused object into a record without effect if only another platform uses it; otherwise returns the
  /// rejection.
  @inline(never)
  private func ignore(
    _ object: JSONView, _ line: SourceLine, _ rejection: Rejection, _ head: inout RecordHead
  ) -> Rejection? {
    guard line.kind == .events, let ignored, ignored.records.contains(object) else { return rejection }
    if let fault = ignored.decoder.decode(object, of: line, into: &head) { return fault }
    head.ignoredType = head.type + 1
    decoder.ignore(line, isTyped: object["type"].map { !$0.isNull } ?? false, into: &head)
    return nil
  }

  @inline(__always)
  private func note(_ values: JSONView, _ kind: InputKind, _ head: inout RecordHead) {
    if head.identity == nil { head.recordKey = RecordIDs.key(of: values, head, kind) }
  }

  /// Parses a line's object onto an empty tape.
  ///
  /// - Parameter line: bytes already known to be UTF-8.
  /// - Returns: nil for a well-formed object; otherwise the first ``QuarantineReason`` that applies.
  @inline(__always)
  package static func parse(
    _ line: UnsafeBufferPointer<UInt8>, _ reader: inout JSONReader, onto tape: inout JSONTape
  ) -> Rejection? {
    let flaws: JSONFlaws
    do {
      flaws = try unsafe reader.read(line, onto: &tape)
    } catch {
      if let offset = error.unpairedSurrogate { return Rejection(reason: .invalidUTF8, offset: offset) }
      return Rejection(reason: .invalidJSON, offset: error.offset)
    }
    let view = tape.view(at: 0)
    return flaws.hasAny || view.kind != .object ? Self.rejection(flaws, view) : nil
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

/// Parses lines one after another, reusing its memory.
package final class LineParser {
  private var reader = JSONReader()
  private var tape = JSONTape()

  package init() {}

  /// Returns the result of `body` for the object of a line, which is valid only during the call; nil if the line is not
  /// an object or has flaws.
  ///
  /// - Parameter line: valid UTF-8.
  package func parse<Result>(_ line: [UInt8], _ body: (JSONView) throws -> Result) rethrows -> Result? {
    try unsafe line.withUnsafeBufferPointer { line in
      tape.reset(keeping: 1 << 20)
      return unsafe LineReader.parse(line, &reader, onto: &tape) == nil ? try body(tape.view(at: 0)) : nil
    }
  }
}

extension Text {
  /// The text without JSON white space (space, tab, line feed, carriage return) at either end.
  @inline(__always)
  package var trimmed: Text {
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

/// `timestamp<TAB>deviceId<TAB>url`: a line of a `deepLinks` input that is not JSON (reference decisions 9).
package struct PlainLink {
  package var device: Text
  package var timestamp: Instant
  package var url: Text

  /// Reads a line. Further tabs belong to the URL; white space at either end does not (reference decisions 24).
  static func read(_ line: Text) -> Result<PlainLink, Rejection> {
    let text = line.trimmed
    if let nul = unsafe line.bytes.firstIndex(of: 0) { return .failure(Rejection(reason: .nulCharacter, offset: nul)) }
    guard let first = unsafe text.bytes.firstIndex(of: 0x09) else {
      return .failure(Rejection(reason: .missingField, field: text.isEmpty ? "timestamp" : "deviceId"))
    }
    guard let second = unsafe text.bytes[(first + 1)...].firstIndex(of: 0x09) else {
      return .failure(Rejection(reason: .missingField, field: "url"))
    }
    let device = text.slice(first + 1, second)
    if device.isEmpty { return .failure(Rejection(reason: .missingField, field: "deviceId")) }
    let stamp = text.slice(0, first)
    let epoch = stamp.isJSONNumber ? Instant(epoch: stamp) : nil
    guard let instant = Instant(exportText: stamp) ?? epoch else {
      return .failure(Rejection(reason: .invalidTimestamp, field: "timestamp"))
    }
    return .success(PlainLink(device: device, timestamp: instant, url: text.slice(second + 1, text.count)))
  }
}
