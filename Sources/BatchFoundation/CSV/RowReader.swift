package struct RowDialect: Sendable {
  /// The meaning of quotes around a field.
  package enum Quotes: String, Sendable {
    /// Delimiters; the field may span lines.
    case standard
    /// Ordinary characters.
    case none
    /// Delimiters; the field ends on the same line.
    case inLine
  }

  package var separator: UInt8
  package var quotes: Quotes
  /// The escape character, which makes the next character literal or, with a letter, forms an escape such as
  /// `\n`; nil for none.
  package var escape: UInt8?
  /// Whether ``escape`` escapes only quotes and itself, and only in quoted fields, as Spark writes them.
  package var escapesOnlyQuotes: Bool
  /// Whether backslashes that the dialect does not explain are reported.
  package var looksForEscapes: Bool
  /// The unquoted fields that mean no value.
  package var nulls: [[UInt8]]

  package init(
    separator: UInt8 = UInt8(ascii: ","), quotes: Quotes = .standard, escape: UInt8? = nil,
    escapesOnlyQuotes: Bool = false, looksForEscapes: Bool = true, nulls: [[UInt8]] = [Array("\\N".utf8)]
  ) {
    self.separator = separator
    self.quotes = quotes
    self.escape = escape
    self.escapesOnlyQuotes = escapesOnlyQuotes
    self.looksForEscapes = looksForEscapes
    self.nulls = nulls
  }

  /// Returns the dialect of RFC 4180, in which every field is a string.
  package static func plain(separator: UInt8 = UInt8(ascii: ",")) -> RowDialect {
    RowDialect(separator: separator, looksForEscapes: false, nulls: [])
  }
}

/// A reader of separated values. Each call passes the next bytes of a file, which may end anywhere
/// (reference decisions 67).
///
/// After a row that violates the dialect, reading resumes at the second line of that row, so that an unclosed quote
/// does not swallow other rows. A byte order mark and empty lines are skipped; fields keep their white space.
package struct RowReader {
  package struct Row {
    /// The number of the row's first line, from 1.
    package var line: Int
    package var offset: Int
    /// The fields, in order; nil for a field without a value.
    package var fields: [[UInt8]?]
    /// The fault and its likely cause; nil for a valid row.
    package var fault: String?
    /// Whether an unquoted field contains a quote.
    package var hasInnerQuote = false
    package var isTooLong = false
    /// The bytes of the row or, if it is invalid, of its first line.
    package var raw: ArraySlice<UInt8>
    /// The index of a field with an escape that the dialect does not read, or that no writer using the dialect would
    /// produce; nil if there is none.
    package var unreadEscape: Int?
    /// The number of lines after the first if a quoted last field spans them and each has as many separators
    /// as a row, which suggests that a closing quote is missing; otherwise 0.
    package var linesLikeRows = 0
  }

  private enum Place {
    case start, plain, quoted
    /// After a quote within a quoted field: the quote ends the field or is the first half of a doubled quote.
    case closed
    /// In the rest of a line whose row is invalid; see ``refusal``.
    case refused
    /// In the rest of a line that was already passed on as too long.
    case passed
  }

  private let form: RowDialect
  private let longest: Int
  private let cause: (ArraySlice<UInt8>) -> String
  /// The number of fields of a row; nil until the header is read.
  private var columns: Int?
  /// The bytes from the start of the current row on.
  private var buffer: [UInt8] = []
  private var at = 0
  /// The number of bytes of the file before the buffer.
  private var base = 0
  private var start = 0
  private var startOfField = 0
  /// The start of the current row's second line; nil within its first.
  private var secondLine: Int?
  private var place = Place.start
  private var refusal = ""
  private var field: [UInt8] = []
  private var fields: [[UInt8]?] = []
  private var line = 1
  private var firstLine = 1
  private var lineOfQuote = 1
  private var hasInnerQuote = false
  private var unreadEscape: Int?
  private var hasMark = true

  private static let (feed, back, quote, backslash) = (
    UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\""), UInt8(ascii: "\\")
  )

  /// - Parameters:
  ///   - columns: the number of fields of a row; nil to use the first row's.
  ///   - longest: the maximum number of bytes of a row.
  ///   - cause: receives the bytes of a faulty row and returns the likely cause, to be appended to the fault's message;
  ///     empty if unknown.
  package init(
    _ form: RowDialect, columns: Int? = nil, longest: Int = .max,
    cause: @escaping (ArraySlice<UInt8>) -> String = { _ in "" }
  ) {
    (self.form, self.columns, self.longest, self.cause) = (form, columns, longest, cause)
  }

  package mutating func read(_ bytes: [UInt8], _ body: (Row) -> Void) {
    buffer.removeSubrange(..<start)
    at -= start
    startOfField -= start
    secondLine = secondLine.map { $0 - start }
    base += start
    start = 0
    buffer += bytes
    scan(isFinal: false, body)
  }

  /// Reads the rest. The last row may lack a line ending or be invalid; if it is invalid, its later lines are read as
  /// rows.
  package mutating func finish(_ body: (Row) -> Void) {
    repeat {
      scan(isFinal: true, body)
      switch place {
      case .refused: end(fault: refusal, body)
      case .quoted:
        refuse(
          "a quote opened on line \(lineOfQuote) is still open at the end of the file (line \(lastLine))", body)
      default: if at > start { endRow(at, body) }
      }
    } while at < buffer.count || place == .refused
  }

  /// The number of the line that the previous byte belongs to.
  private var lastLine: Int { at > 0 && buffer[at - 1] == Self.feed ? line - 1 : line }

  private mutating func scan(isFinal: Bool, _ body: (Row) -> Void) {
    if hasMark {
      guard isFinal || buffer.count >= 3 else { return }
      hasMark = false
      let mark = buffer.byteOrderMarkLength
      (at, start, startOfField) = (mark, mark, mark)
    }
    while at < buffer.count {
      let byte = buffer[at]
      if place == .passed {
        at += 1
        if byte == Self.feed { begin(line + 1) } else { start = at }
        continue
      }
      if at - start > longest, byte != Self.feed {
        refuseLong(body)
        continue
      }
      if place == .refused {
        at += 1
        if byte == Self.feed { end(fault: refusal, body) }
        continue
      }
      if byte == form.escape, !isClosed, isQuoted || !form.escapesOnlyQuotes {
        guard at + 1 < buffer.count || isFinal else { return }
        guard form.escapesOnlyQuotes, at + 1 == buffer.count || ![Self.quote, byte].contains(buffer[at + 1]) else {
          takeEscaped(body)
          continue
        }
        unreadEscape = fields.count
      } else if byte == Self.backslash, form.looksForEscapes, unreadEscape == nil {
        guard at + 1 < buffer.count || isFinal else { return }
        let read = form.escape == nil ? [Self.backslash, UInt8(ascii: "t"), UInt8(ascii: "n")] : [Self.backslash]
        if at + 1 < buffer.count, read.contains(buffer[at + 1]) { unreadEscape = fields.count }
      }
      if byte == Self.back, !isQuoted {
        guard at + 1 < buffer.count || isFinal else { return }
        if at + 1 == buffer.count || buffer[at + 1] == Self.feed {
          endRow(at, next: min(at + 2, buffer.count), body)
          continue
        }
      }
      switch place {
      case .quoted:
        if byte == Self.feed, !spans(body) { continue }
        at += 1
        if byte == Self.quote { place = .closed } else { field.append(byte) }
      case .closed where byte == Self.quote:
        at += 1
        field.append(byte)
        place = .quoted
      case .start where byte == Self.quote && form.quotes != .none:
        at += 1
        (place, lineOfQuote) = (.quoted, line)
      default:
        if byte == form.separator {
          endField(at)
          at += 1
          startOfField = at
        } else if byte == Self.feed {
          endRow(at, body)
        } else if isClosed {
          refuse("text after a closing quote", body)
        } else {
          place = .plain
          at += 1
          field.append(byte)
          if byte == Self.quote, form.quotes != .none {
            hasInnerQuote = true
            if form.escapesOnlyQuotes, field.dropLast().last == form.escape { unreadEscape = fields.count }
            if secondLine != nil {
              refuse("a quote inside an unquoted field of a multi-line row", body)
            }
          }
        }
      }
    }
  }

  private var isQuoted: Bool { place == .quoted }
  private var isClosed: Bool { place == .closed }

  /// Handles a line ending within a field; returns whether the row continues after it.
  private mutating func spans(_ body: (Row) -> Void) -> Bool {
    if isQuoted, form.quotes == .inLine {
      refuse("a quote is not closed on its line", body)
    } else if hasInnerQuote {
      refuse("a quote inside an unquoted field of a multi-line row", body)
    } else {
      if secondLine == nil { secondLine = at + 1 }
      line += 1
      return true
    }
    return false
  }

  private mutating func takeEscaped(_ body: (Row) -> Void) {
    guard at + 1 < buffer.count else {
      at += 1
      return refuse("the file ends after an escape character", body)
    }
    at += 1
    let byte = buffer[at]
    if byte == Self.feed, !spans(body) { return }
    at += 1
    if place == .start { place = .plain }
    guard form.escape == Self.backslash else { return field.append(byte) }
    // Writers that quote fields do not escape letters outside of quotes; `\N` is null.
    let isLetter = byte.isASCIILetter && byte != UInt8(ascii: "N")
    if isLetter, !isQuoted, form.quotes == .standard { unreadEscape = fields.count }
    if let meaning = Self.escapes[Int(byte)] { return field.append(meaning) }
    // No writer escapes other letters, so the backslash is literal, as in files from Spark, which escapes only quotes.
    if byte.isASCIILetterOrDigit { field.append(Self.backslash) }
    field.append(byte)
  }

  /// The meaning of each byte after a backslash; nil for one that means itself.
  private static let escapes: [UInt8?] = {
    var escapes = [UInt8?](repeating: nil, count: 256)
    for (letter, meaning) in zip("ntrbfv0".utf8, "\n\t\r\u{8}\u{C}\u{B}\0".utf8) { escapes[Int(letter)] = meaning }
    return escapes
  }()

  private mutating func endField(_ end: Int) {
    let isNull = !isClosed && columns != nil && form.nulls.contains { buffer[startOfField..<end].elementsEqual($0) }
    fields.append(isNull ? nil : field)
    field.removeAll(keepingCapacity: true)
    place = .start
  }

  private mutating func endRow(_ end: Int, next: Int? = nil, _ body: (Row) -> Void) {
    let isEmpty = fields.isEmpty && end == startOfField
    if !isEmpty {
      let isQuoted = isClosed && lineOfQuote == firstLine
      endField(end)
      let wanted = columns ?? fields.count
      if fields.count > wanted || fields.count < wanted && secondLine != nil {
        at = end
        let words = "\(fields.count.counted("field")), but the table has \(wanted.counted("column"))"
        return refuse(words, body)
      }
      columns = wanted
      body(
        Row(
          line: firstLine, offset: base + start, fields: fields, hasInnerQuote: hasInnerQuote, raw: buffer[start..<end],
          unreadEscape: unreadEscape,
          linesLikeRows: isQuoted ? secondLine.map { linesLikeRows(buffer[$0..<end]) } ?? 0 : 0))
    }
    at = next ?? min(end + 1, buffer.count)
    begin(line + 1)
  }

  private func linesLikeRows(_ text: ArraySlice<UInt8>) -> Int {
    let lines = text.split(separator: Self.feed).filter { $0.contains { $0 > 0x20 } }
    return fields.count > 2 && lines.allSatisfy { $0.count { $0 == form.separator } == fields.count - 1 }
      ? lines.count : 0
  }

  private mutating func begin(_ line: Int) {
    (start, startOfField, secondLine, place) = (at, at, nil, .start)
    (self.line, firstLine, hasInnerQuote, unreadEscape) = (line, line, false, nil)
    field.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
  }

  /// Rejects the row and resumes at its second line.
  private mutating func refuse(_ words: String, _ body: (Row) -> Void) {
    let words = words + cause(buffer[start..<at])
    if secondLine == nil { (place, refusal) = (.refused, words) } else { end(fault: words, body) }
  }

  private mutating func end(fault words: String, _ body: (Row) -> Void) {
    at = secondLine ?? at
    let raw = buffer[start..<at]
    let ends = raw.last == Self.feed ? raw.dropLast().last == Self.back ? 2 : 1 : 0
    body(Row(line: firstLine, offset: base + start, fields: [], fault: words, raw: raw.dropLast(ends)))
    begin(firstLine + 1)
  }

  private mutating func refuseLong(_ body: (Row) -> Void) {
    if secondLine != nil {
      let words =
        isQuoted
        ? "a quote opened on line \(lineOfQuote) is not closed within \(longest) bytes"
        : "a row of several lines has more than \(longest) bytes"
      return refuse(words, body)
    }
    body(
      Row(line: firstLine, offset: base + start, fields: [], fault: "", isTooLong: true, raw: buffer[start..<at]))
    place = .passed
  }
}

package enum CSVText {
  /// Returns a row with every field in quotes, followed by a line ending.
  package static func line(_ fields: [String]) -> String {
    fields.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\n"
  }
}
