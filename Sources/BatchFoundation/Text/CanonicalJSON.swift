internal import CBytes

/// The canonical encoding of text as JSON (reference formats 4.2). Only what JSON requires is escaped, with `\u00xx` in
/// lower case; `/` and everything beyond ASCII stay unescaped.
public enum CanonicalJSON {
  /// Returns the number of bytes of the escaped text without quotes.
  public static func escapedCount(_ text: Text) -> Int {
    var count = text.count
    var at = 0
    while true {
      unsafe at += engage_count_plain(text.base + at, text.count - at)
      guard at < text.count else { return count }
      count += extraBytes(text[at])
      at += 1
    }
  }

  /// Appends the escaped text without quotes.
  public static func appendEscaped(_ text: Text, to target: inout ByteBuffer) {
    var at = 0
    while at < text.count {
      let rest = text.count - at
      let start = target.count
      unsafe target.append(limit: rest) { unsafe engage_copy_plain(text.base + at, rest, $0) }
      at += target.count - start
      guard at < text.count else { return }
      unsafe target.append(limit: longestEscape) { unsafe writeEscape(of: text[at], to: $0) }
      at += 1
    }
  }

  private static let longestEscape = 6

  public static func appendString(_ text: Text, to target: inout ByteBuffer) {
    let quote = UInt8(ascii: "\"")
    var plain = 0
    unsafe target.append(limit: text.count + 2) { start in
      unsafe start[0] = quote
      unsafe plain = engage_copy_plain(text.base, text.count, start + 1)
      unsafe start[1 + plain] = quote
      return plain + 1
    }
    // Most texts have nothing to escape.
    if plain < text.count { appendEscaped(text.slice(plain, text.count), to: &target) }
    target.append(quote)
  }

  /// Reverses ``appendEscaped(_:to:)``; text without a backslash is returned unchanged.
  public static func unescaped(_ text: Text, in arena: Arena) -> Text {
    guard var at = unsafe text.bytes.firstIndex(of: UInt8(ascii: "\\")) else { return text }
    let target = unsafe arena.allocate(text.count).assumingMemoryBound(to: UInt8.self)
    unsafe target.update(from: text.base, count: at)
    var count = at
    while at < text.count {
      var byte = text[at]
      at += 1
      if byte == UInt8(ascii: "\\"), at < text.count {
        byte = text[at]
        at += 1
        if let plain = JSONString.escapedByte(byte) {
          byte = plain
        } else if byte == UInt8(ascii: "u"), at + 4 <= text.count,
          // A damaged store may contain anything here.
          let high = Hexadecimal.value(of: text[at + 2]), let low = Hexadecimal.value(of: text[at + 3])
        {
          byte = high << 4 | low
          at += 4
        }
      }
      unsafe target[count] = byte
      count += 1
    }
    return unsafe Text(base: target, count: count)
  }

  /// Returns the number of bytes that escaping adds to a byte.
  @inline(__always)
  private static func extraBytes(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), 8, 9, 10, 12, 13: 1
    case 0..<0x20: 5
    default: 0
    }
  }

  /// - Returns: the number of bytes written.
  private static func writeEscape(of byte: UInt8, to target: UnsafeMutablePointer<UInt8>) -> Int {
    unsafe target[0] = UInt8(ascii: "\\")
    switch byte {
    case 8: unsafe target[1] = UInt8(ascii: "b")
    case 9: unsafe target[1] = UInt8(ascii: "t")
    case 10: unsafe target[1] = UInt8(ascii: "n")
    case 12: unsafe target[1] = UInt8(ascii: "f")
    case 13: unsafe target[1] = UInt8(ascii: "r")
    case 0..<0x20:
      unsafe target[1] = UInt8(ascii: "u")
      unsafe target[2] = UInt8(ascii: "0")
      unsafe target[3] = UInt8(ascii: "0")
      unsafe target[4] = Hexadecimal.lowercase[Int(byte >> 4)]
      unsafe target[5] = Hexadecimal.lowercase[Int(byte & 15)]
      return 6
    default: unsafe target[1] = byte
    }
    return 2
  }
}

extension CanonicalJSON {
  /// Returns the number of bytes that the value takes when written without white space.
  public static func count(_ value: JSONView) -> Int {
    switch value.kind {
    case .null, .yes: return 4
    case .no: return 5
    case .number: return value.number?.count ?? 0
    case .string: return escapedCount(value.string ?? .empty) + 2
    case .array:
      var elements = value.elements
      var count = 1
      while let element = elements.next() { count += Self.count(element) + 1 }
      return max(count, 2)
    case .object:
      var members = value.members
      var count = 1
      while let (key, member) = members.next() { count += escapedCount(key) + Self.count(member) + 4 }
      return max(count, 2)
    }
  }

  /// Appends a value without white space; members keep their order, and numbers are kept as written.
  public static func append(_ value: JSONView, to target: inout ByteBuffer) {
    switch value.kind {
    case .null: target.append("null")
    case .no: target.append("false")
    case .yes: target.append("true")
    case .number: target.append(value.number ?? .empty)
    case .string: appendString(value.string ?? .empty, to: &target)
    case .array:
      target.append(UInt8(ascii: "["))
      var elements = value.elements
      var isFirst = true
      while let element = elements.next() {
        if !isFirst { target.append(UInt8(ascii: ",")) }
        isFirst = false
        append(element, to: &target)
      }
      target.append(UInt8(ascii: "]"))
    case .object:
      target.append(UInt8(ascii: "{"))
      var isFirst = true
      var members = value.members
      while let (key, member) = members.next() {
        if !isFirst { target.append(UInt8(ascii: ",")) }
        isFirst = false
        appendString(key, to: &target)
        target.append(UInt8(ascii: ":"))
        append(member, to: &target)
      }
      target.append(UInt8(ascii: "}"))
    }
  }
}

/// Single strings as JSON, with no more escapes than JSON requires (reference formats 4.2).
public enum JSONString {
  /// Returns the byte that the escape with this letter denotes; nil for `u` and for letters that no escape has.
  @inline(__always)
  static func escapedByte(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "r"): 0x0D
    default: nil
    }
  }

  public static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// Returns the escaped text without quotes.
  public static func escaped(_ text: String) -> String {
    var target = ByteBuffer(capacity: text.utf8.count)
    text.withText { CanonicalJSON.appendEscaped($0, to: &target) }
    return unsafe String(decoding: target.bytes, as: UTF8.self)
  }
}
