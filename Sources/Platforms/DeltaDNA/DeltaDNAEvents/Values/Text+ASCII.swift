package import BatchFoundation

extension Text {
  /// Whether both are the same bytes, with a to z as A to Z.
  package func isEqualIgnoringASCIICase(to other: Text) -> Bool {
    guard count == other.count else { return false }
    for index in 0..<count where Self.lowered(self[index]) != Self.lowered(other[index]) { return false }
    return true
  }

  package static func lowered(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
  }
}
