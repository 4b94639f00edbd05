import BatchFoundation
import Glibc

/// Searches for an id in JSON and in text. An id of at least 8 bytes matches wherever it is delimited, as in a link. A
/// shorter id matches only as a whole JSON string, because its bytes may occur by chance. Neither matches inside a
/// longer id.
package struct PersonTrace {
  private static let shortest = 8
  static let replacement = Array("[forgotten]".utf8)

  private let quoted: BytePattern
  /// The offset of the id within the replacement, where it does not count as a trace; nil if it does not occur there,
  /// which is the usual case.
  private let offset: Int?
  /// The id as recorded, and as JSON escapes it if that differs; empty for a short id.
  private let alone: [BytePattern]

  package init(_ id: [UInt8]) {
    let escaped = Array(JSONString.escaped(String(decoding: id, as: UTF8.self)).utf8)
    offset = Self.replacement.indices.first { Self.replacement[$0...].starts(with: id) }
    quoted = BytePattern([UInt8(ascii: "\"")] + escaped + [UInt8(ascii: "\"")])
    alone = id.count < Self.shortest ? [] : (escaped == id ? [id] : [id, escaped]).map(BytePattern.init)
  }

  package func occurs(in bytes: [UInt8]) -> Bool {
    place(of: quoted, in: bytes, isQuoted: true) != nil || alone.contains { place(of: $0, in: bytes) != nil }
  }

  /// Returns the bytes with each occurrence of the id replaced; nil if there is none.
  func erased(from bytes: [UInt8]) -> [UInt8]? {
    var rest = bytes
    while let place = place(of: quoted, in: rest, isQuoted: true) {
      rest.replaceSubrange(place + 1..<place + quoted.bytes.count - 1, with: Self.replacement)
    }
    for pattern in alone {
      while let place = place(of: pattern, in: rest) {
        rest.replaceSubrange(place..<place + pattern.bytes.count, with: Self.replacement)
      }
    }
    return rest == bytes ? nil : rest
  }

  private func place(of pattern: BytePattern, in bytes: [UInt8], isQuoted: Bool = false) -> Int? {
    var at = 0
    while let place = pattern.place(in: bytes, from: at) {
      let end = place + pattern.bytes.count
      let isWhole =
        isQuoted
        || (place == 0 || !Self.continues(bytes[place - 1])) && (end == bytes.count || !Self.continues(bytes[end]))
      if isWhole, !isReplacement(bytes, at: isQuoted ? place + 1 : place) { return place }
      at = place + 1
    }
    return nil
  }

  private func isReplacement(_ bytes: [UInt8], at place: Int) -> Bool {
    guard let offset, place >= offset else { return false }
    return bytes[(place - offset)...].starts(with: Self.replacement)
  }

  /// Returns whether an id next to this byte is only part of a longer id.
  private static func continues(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
  }
}

/// A byte pattern to search for: one of few bytes by its first byte, any other with Horspool's algorithm.
package struct BytePattern {
  /// The number of bytes up to which the system's search for one byte is faster than steps of that length.
  private static let few = 3

  let bytes: [UInt8]
  /// For each byte, the distance to advance if the text has that byte where the pattern would end.
  private let steps: [Int]

  /// - Parameter bytes: at least one byte.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var steps = [Int](repeating: bytes.count, count: 256)
    for (place, byte) in bytes.dropLast().enumerated() { steps[Int(byte)] = bytes.count - 1 - place }
    self.steps = steps
  }

  /// Returns the first position of the pattern at or after `start`; nil if there is none.
  package func place(in text: [UInt8], from start: Int = 0) -> Int? {
    unsafe text.withUnsafeBufferPointer { unsafe place(in: Text($0), from: start) }
  }

  func place(in text: Text, from start: Int = 0) -> Int? {
    bytes.withText { $0.count <= Self.few ? Self.place(of: $0, in: text, start) : place(of: $0, in: text, start) }
  }

  private static func place(of pattern: Text, in text: Text, _ start: Int) -> Int? {
    var at = start
    while at + pattern.count <= text.count {
      let rest = text.count - pattern.count + 1 - at
      guard let found = unsafe memchr(text.base + at, Int32(pattern[0]), rest) else { return nil }
      at = unsafe UnsafeRawPointer(found) - UnsafeRawPointer(text.base)
      if unsafe equalBytes(text.base + at, pattern.base, pattern.count) { return at }
      at += 1
    }
    return nil
  }

  private func place(of pattern: Text, in text: Text, _ start: Int) -> Int? {
    unsafe steps.withUnsafeBufferPointer { steps in
      let end = pattern.count - 1
      let last = pattern[end]
      var at = start
      while at + end < text.count {
        let byte = text[at + end]
        if byte == last, unsafe equalBytes(text.base + at, pattern.base, end) { return at }
        at += unsafe steps[Int(byte)]
      }
      return nil
    }
  }
}
