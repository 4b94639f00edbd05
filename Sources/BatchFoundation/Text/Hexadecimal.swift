public enum Hexadecimal {
  public static let lowercase = Array("0123456789abcdef".utf8)
  public static let uppercase = Array("0123456789ABCDEF".utf8)

  /// Returns two lower-case digits per byte.
  public static func text(of bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [lowercase[Int($0 >> 4)], lowercase[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Returns all digits of a number in lower case, including leading zeros.
  public static func text<Number: FixedWidthInteger & UnsignedInteger>(of number: Number) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: Number.bitWidth / 4 - digits.utf8.count) + digits
  }

  /// Returns the value of a digit of either case; nil for anything else.
  public static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
