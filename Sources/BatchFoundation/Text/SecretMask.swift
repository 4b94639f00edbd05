/// Removes secrets and email addresses from a service's messages (reference decisions 39), whether in plain text,
/// percent-, JSON- or XML-encoded, or in base64, even within a longer encoded string. It knows every ``Secret`` of at
/// least six bytes that this process created, including access tokens.
enum SecretMask {
  static let shortest = 6

  private static let known = Guarded<Set<ByteText>>([])

  static func note(_ secret: ByteText) {
    guard secret.string.utf8.count >= shortest else { return }
    known.withLock { _ = $0.insert(secret) }
  }

  /// Returns the text with every known secret, and everything of the form `x@y`, replaced with
  /// ``Secret/redacted``.
  static func masked(_ text: [UInt8]) -> [UInt8] {
    withoutAddresses(withoutEncodedAddresses(withoutSecrets(text)))
  }

  /// Returns the text with every known secret replaced with ``Secret/redacted``.
  static func withoutSecrets(_ text: [UInt8]) -> [UInt8] {
    let patterns = known.withLock { $0 }.flatMap { Self.patterns(of: Array($0.string.utf8)) }
      .sorted { $0.count > $1.count }
    var shown: [UInt8] = []
    shown.reserveCapacity(text.count)
    var at = 0
    while at < text.count {
      if let end = patterns.lazy.compactMap({ end(of: $0[...], in: text, at: at) }).first {
        shown += redacted
        at = end
        // Skips the padding of base64.
        while at < text.count, text[at] == UInt8(ascii: "=") { at += 1 }
      } else {
        shown.append(text[at])
        at += 1
      }
    }
    return shown
  }

  private static let redacted = Array(Secret.redacted.utf8)

  // MARK: - Secrets

  /// Returns the secret, its base64 encoding and, for each alignment, the base64 digits that depend only on the secret.
  private static func patterns(of secret: [UInt8]) -> [[UInt8]] {
    var patterns = [secret]
    for offset in 0..<3 {
      let bytes = [UInt8](repeating: 0, count: offset) + secret
      for digits in [digits, digitsOfURLs] {
        let encoded = base64(bytes, digits)
        // The first and last digits may contain bits of neighboring bytes.
        let core = encoded[((offset * 8 + 5) / 6)..<(bytes.count * 8 / 6)]
        patterns.append(Array(core))
        if offset == 0 { patterns.append(encoded) }
      }
    }
    return patterns
  }

  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let digitsOfURLs = Array(digits.dropLast(2)) + Array("-_".utf8)

  /// Returns base64 without padding.
  private static func base64(_ bytes: [UInt8], _ digits: [UInt8]) -> [UInt8] {
    var encoded: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in bytes {
      (bits, count) = (bits << 8 | Int(byte), count + 8)
      while count >= 6 {
        count -= 6
        encoded.append(digits[bits >> count & 63])
      }
    }
    if count > 0 { encoded.append(digits[bits << (6 - count) & 63]) }
    return encoded
  }

  /// Returns the end of the pattern if `text` contains it at `start`, escaped in any way or not at all; otherwise nil.
  private static func end(of pattern: ArraySlice<UInt8>, in text: [UInt8], at start: Int) -> Int? {
    var rest = pattern
    var at = start
    while let next = rest.first {
      guard at < text.count else { return nil }
      let escape = escape(in: text, at: at).flatMap { rest.starts(with: $0.bytes) ? $0 : nil }
      if text[at] == next {
        // A secret may itself look like an escape.
        if let escape, let end = end(of: rest.dropFirst(escape.bytes.count), in: text, at: at + escape.length) {
          return end
        }
        rest = rest.dropFirst()
        at += 1
      } else if let escape {
        rest = rest.dropFirst(escape.bytes.count)
        at += escape.length
      } else {
        return nil
      }
    }
    return at
  }

  // MARK: - Escapes

  /// Returns the bytes that the escape at `at` encodes, and its length; nil if there is no escape.
  private static func escape(in text: [UInt8], at: Int) -> (bytes: [UInt8], length: Int)? {
    let rest = text[at...].dropFirst()
    switch text[at] {
    case UInt8(ascii: "+"): return ([0x20], 1)
    case UInt8(ascii: "%"): return number(rest.prefix(2), 16, exactly: 2).map { ([UInt8($0)], 3) }
    case UInt8(ascii: "\\"): return escapeOfJSON(rest)
    case UInt8(ascii: "&"): return escapeOfXML(rest)
    default: return nil
    }
  }

  private static func escapeOfJSON(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
    guard let letter = rest.first else { return nil }
    if let byte = JSONString.escapedByte(letter) { return ([byte], 2) }
    guard letter == UInt8(ascii: "u"), let unit = number(rest.dropFirst().prefix(4), 16, exactly: 4) else { return nil }
    if (0xD800..<0xDC00).contains(unit), rest.dropFirst(5).starts(with: Array("\\u".utf8)),
      let low = number(rest.dropFirst(7).prefix(4), 16, exactly: 4), (0xDC00..<0xE000).contains(low)
    {
      return scalar(0x10000 + (unit - 0xD800) << 10 + low - 0xDC00).map { ($0, 12) }
    }
    return scalar(unit).map { ($0, 6) }
  }

  private static func escapeOfXML(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
    guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = rest[..<end]
    let length = name.count + 2
    if name.first == UInt8(ascii: "#") {
      let digits = name.dropFirst()
      let isHexadecimal = digits.first.map { $0 | 0x20 } == UInt8(ascii: "x")
      return (isHexadecimal ? number(digits.dropFirst(), 16) : number(digits, 10)).flatMap(scalar).map { ($0, length) }
    }
    let named: [String: UInt8] = ["amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27, "commat": 0x40]
    return named[String(decoding: name, as: UTF8.self)].map { ([$0], length) }
  }

  private static func number(_ digits: ArraySlice<UInt8>, _ radix: Int, exactly count: Int? = nil) -> Int? {
    guard !digits.isEmpty, count == nil || digits.count == count, digits.allSatisfy({ $0 < 0x80 && $0 > 0x2F }) else {
      return nil
    }
    return Int(String(decoding: digits, as: UTF8.self), radix: radix)
  }

  private static func scalar(_ value: Int) -> [UInt8]? {
    UInt32(exactly: value).flatMap(UnicodeScalar.init).map { Array(String($0).utf8) }
  }

  // MARK: - Addresses

  /// Returns the text with every run of base64 that contains an address replaced with ``Secret/redacted``.
  private static func withoutEncodedAddresses(_ text: [UInt8]) -> [UInt8] {
    var shown: [UInt8] = []
    var at = 0
    while at < text.count {
      let (values, end) = digitValues(in: text, from: at)
      guard values.count >= shortest else {
        // There are no digits, or too few for an address. A short run is skipped entirely, because no base64
        // begins in its middle.
        let next = max(end, at + 1)
        shown += text[at..<next]
        at = next
        continue
      }
      shown += hasAddress(values) ? redacted : Array(text[at..<end])
      at = end
    }
    return shown
  }

  /// Returns the values of the base64 digits from `start` on, escaped or not, and the offset after the digits and their
  /// padding.
  private static func digitValues(in text: [UInt8], from start: Int) -> (values: [UInt8], end: Int) {
    var values: [UInt8] = []
    var at = start
    while at < text.count {
      let escape = escape(in: text, at: at).flatMap { $0.bytes.count == 1 ? $0 : nil }
      if let value = value(ofDigit: text[at]) {
        values.append(value)
        at += 1
      } else if let escape, let value = value(ofDigit: escape.bytes[0]) {
        values.append(value)
        at += escape.length
      } else if !values.isEmpty, text[at] == UInt8(ascii: "=") || escape?.bytes == [UInt8(ascii: "=")] {
        at += escape?.length ?? 1
      } else {
        break
      }
    }
    return (values, at)
  }

  private static func value(ofDigit byte: UInt8) -> UInt8? {
    (digits.firstIndex(of: byte) ?? digitsOfURLs.firstIndex(of: byte)).map { UInt8($0) }
  }

  /// Returns whether the digits encode plain text with an address, at any alignment.
  private static func hasAddress(_ values: [UInt8]) -> Bool {
    (0..<4).contains { skipped in
      var bytes: [UInt8] = []
      var (bits, count) = (0, 0)
      for value in values.dropFirst(skipped) {
        (bits, count) = ((bits << 6 | Int(value)) & 0xFFFF, count + 6)
        if count >= 8 {
          count -= 8
          bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
      }
      return bytes.split(whereSeparator: { $0 < 0x20 || $0 > 0x7E }).contains { plain in
        plain.count >= shortest && withoutAddresses(Array(plain)) != Array(plain)
      }
    }
  }

  private static func withoutAddresses(_ text: [UInt8]) -> [UInt8] {
    var shown: [UInt8] = []
    var at = 0
    while at < text.count {
      guard let sign = signLength(in: text, at: at) else {
        shown.append(text[at])
        at += 1
        continue
      }
      let before = lengthBefore(shown)
      let after = lengthAfter(text[(at + sign)...])
      if before > 0, after > 0 {
        shown.removeLast(before)
        shown += redacted
        at += sign + after
      } else {
        shown += text[at..<at + sign]
        at += sign
      }
    }
    return shown
  }

  private static func signLength(in text: [UInt8], at: Int) -> Int? {
    if text[at] == UInt8(ascii: "@") { return 1 }
    return escape(in: text, at: at).flatMap { $0.bytes == [UInt8(ascii: "@")] ? $0.length : nil }
  }

  /// Returns the length of the local part before an `@`, including quotes.
  private static func lengthBefore(_ shown: [UInt8]) -> Int {
    if shown.last == UInt8(ascii: "\""), let start = shown.dropLast().lastIndex(of: UInt8(ascii: "\"")) {
      return shown.count - start
    }
    return shown.reversed().prefix(while: isOfAddress).count
  }

  private static func lengthAfter(_ rest: ArraySlice<UInt8>) -> Int {
    if rest.first == UInt8(ascii: "["), let end = rest.firstIndex(of: UInt8(ascii: "]")) {
      return end + 1 - rest.startIndex
    }
    return rest.prefix(while: isOfAddress).count
  }

  /// Returns whether a byte counts as part of an address. It accepts more characters than an address may have, because
  /// hiding too much is better than hiding too little.
  private static func isOfAddress(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != 0x7F && !Array("\"<>()[],;:\\".utf8).contains(byte)
  }
}

/// A credential that never prints its value; only ``reveal()``, used to build requests, returns it.
public struct Secret: Hashable, Sendable {
  private var value: ByteText

  public init(_ value: String) {
    self.value = ByteText(value)
    SecretMask.note(self.value)
  }

  public var isEmpty: Bool { value.string.utf8.isEmpty }

  /// Returns the value for use in a request. It must not appear in logs, errors or reports.
  public func reveal() -> String { value.string }

  /// Returns the text with every occurrence of the secret redacted where it is a whole word, such as in the path of a
  /// URL.
  public func hidden(in text: String) -> String {
    func isOfWord(_ byte: UInt8) -> Bool { byte.isASCIILetterOrDigit || byte >= 0x80 }
    let (secret, bytes) = (Array(value.string.utf8), Array(text.utf8))
    guard !secret.isEmpty, bytes.count >= secret.count else { return text }
    var shown: [UInt8] = []
    var at = 0
    while at < bytes.count {
      let end = at + secret.count
      if end <= bytes.count, bytes[at..<end].elementsEqual(secret), at == 0 || !isOfWord(bytes[at - 1]),
        end == bytes.count || !isOfWord(bytes[end])
      {
        shown += Array(Self.redacted.utf8)
        at = end
      } else {
        shown.append(bytes[at])
        at += 1
      }
    }
    return String(decoding: shown, as: UTF8.self)
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The replacement for secrets wherever settings are shown (reference formats 2.4).
  public static var redacted: String { "<redacted>" }

  public var description: String { Self.redacted }
  public var debugDescription: String { Self.redacted }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
