import BatchFoundation

/// The encoding `application/x-www-form-urlencoded`, as HTML forms use it: UTF-8, with spaces as `+`.
enum FormEncoding {
  static let contentType = "application/x-www-form-urlencoded; charset=UTF-8"

  static func body(_ fields: [(name: String, value: [UInt8])]) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(fields.reduce(0) { $0 + $1.value.count * 2 + 32 })
    for (index, field) in fields.enumerated() {
      if index > 0 { body.append(UInt8(ascii: "&")) }
      append(Array(field.name.utf8), to: &body)
      body.append(UInt8(ascii: "="))
      append(field.value, to: &body)
    }
    return body
  }

  /// Percent-encodes text for a query or path segment, with spaces as `%20`.
  static func component(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(Array(text.utf8), to: &bytes, space: Array("%20".utf8))
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(_ text: [UInt8], to body: inout [UInt8], space: [UInt8] = [UInt8(ascii: "+")]) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "*"):
        body.append(byte)
      case UInt8(ascii: " "): body.append(contentsOf: space)
      default:
        body.append(UInt8(ascii: "%"))
        body.append(Hexadecimal.uppercase[Int(byte >> 4)])
        body.append(Hexadecimal.uppercase[Int(byte & 15)])
      }
    }
  }
}
