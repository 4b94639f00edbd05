import BatchFoundation
import CLinux

/// Scans the body of a submission without parsing it into values.
enum EventScanner {
  private static let code = Needle("\"eventTypeCode\":")

  /// Returns the number of events if the body has the client's layout, without white space; nil if it must be parsed.
  static func quickCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard unsafe bytes.starts(with: "{\"events\":[".utf8), unsafe bytes.suffix(2).elementsEqual("]}".utf8) else {
      return nil
    }
    let count = unsafe code.occurrences(in: bytes)
    return count > 0 ? count : nil
  }

  /// Returns the byte range of each event in a body that ``quickCount(_:)`` accepted or that is well-formed JSON.
  static func events(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var depth = 0
    var start = 0
    var index = 0
    let count = bytes.count
    while index < count {
      switch unsafe bytes[index] {
      case UInt8(ascii: "\""):
        index += 1
        while index < count, unsafe bytes[index] != UInt8(ascii: "\"") {
          unsafe index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth == 3 { start = index }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 3 { ranges.append(start..<index + 1) }
        depth -= 1
      default: break
      }
      index += 1
    }
    return ranges
  }

  /// Returns the needle `"name":"NAME","value":"VALUE"`: an attribute as the client writes it.
  ///
  /// - Parameter value: nil ends the needle at the quotation mark that opens the value.
  static func attribute(_ name: String, value: String?) -> Needle {
    Needle("\"name\":\(JSONString.quoted(name)),\"value\":" + (value.map { JSONString.quoted($0) } ?? "\""))
  }

  /// Returns the raw text of the value after `prefix` in one event, without decoding escapes; nil if there is none.
  static func value(after prefix: Needle, in event: UnsafeRawBufferPointer) -> String? {
    guard let found = unsafe prefix.find(in: event) else { return nil }
    let start = found + prefix.bytes.count
    var end = start
    while end < event.count, unsafe event[end] != UInt8(ascii: "\"") {
      unsafe end += event[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    return unsafe String(decoding: event[start..<min(end, event.count)], as: UTF8.self)
  }
}

/// A byte string to search for.
struct Needle: Sendable {
  let bytes: [UInt8]

  /// - Parameter text: not empty.
  init(_ text: String) { bytes = Array(text.utf8) }

  /// Returns the offset of the first occurrence at or after `start`; nil if there is none.
  func find(in haystack: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
    guard let base = haystack.baseAddress else { return nil }
    return unsafe engage_find(base + start, haystack.count - start, bytes, bytes.count).map { unsafe $0 - base }
  }

  func occurrences(in haystack: UnsafeRawBufferPointer) -> Int {
    var found = 0
    var start = 0
    while let place = unsafe find(in: haystack, from: start) {
      found += 1
      start = place + bytes.count
    }
    return found
  }
}
