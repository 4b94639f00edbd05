import BatchFoundation

/// What percent decoding made of a piece of a link (reference deep-links 2).
enum PercentDecoding {
  /// Why a piece was left as it was written.
  enum Flaw: Sendable {
    /// A `%` without two hexadecimal digits after it.
    case badEscape
    /// Escapes that are not UTF-8 together.
    case badUTF8
  }

  /// The decoded text, or with a flaw the raw text. `+` stays `+`. Text without escapes is not copied.
  static func decode(_ raw: Text, into arena: Arena) -> (text: Text, flaw: Flaw?) {
    guard unsafe raw.bytes.contains(percent) else { return (raw, nil) }
    let target = unsafe arena.allocate(raw.count).bindMemory(to: UInt8.self, capacity: raw.count)
    var length = 0
    var index = 0
    while index < raw.count {
      if raw[index] == percent {
        guard index + 2 < raw.count, let high = Hexadecimal.value(of: raw[index + 1]),
          let low = Hexadecimal.value(of: raw[index + 2])
        else {
          return (raw, .badEscape)
        }
        unsafe target[length] = high << 4 | low
        index += 3
      } else {
        unsafe target[length] = raw[index]
        index += 1
      }
      length += 1
    }
    let text = unsafe Text(base: UnsafePointer(target), count: length)
    guard unsafe firstInvalidUTF8(text.bytes) == nil else { return (raw, .badUTF8) }
    return (text, nil)
  }

  private static let percent = UInt8(ascii: "%")
}
