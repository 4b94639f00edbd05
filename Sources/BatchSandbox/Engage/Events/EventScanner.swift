import BatchFoundation

/// Looks at the body of a submission without building anything from it.
enum EventScanner {
  private static let code = Needle("\"eventTypeCode\":")

  /// The number of events if the body looks as the client writes it, without white space; nil asks for a full look.
  static func quickCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard unsafe bytes.starts(with: "{\"events\":[".utf8), unsafe bytes.suffix(2).elementsEqual("]}".utf8) else {
      return nil
    }
    let count = unsafe code.occurrences(in: bytes)
    return count > 0 ? count : nil
  }

  /// The bytes of each event of a body whose shape ``quickCount(_:)`` has confirmed, or that is well-formed JSON.
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

  /// `"name":"NAME","value":"VALUE"`, as the client writes an attribute.
  ///
  /// - Parameter value: nil stops at the quotation mark that opens the value.
  static func attribute(_ name: String, value: String?) -> Needle {
    Needle("\"name\":\(JSONString.quoted(name)),\"value\":" + (value.map { JSONString.quoted($0) } ?? "\""))
  }

  /// The raw text of the value that `prefix` leads up to in one event, escapes as they are; nil without it.
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
