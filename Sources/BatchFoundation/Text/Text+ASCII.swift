extension Text {
  /// Whether both are the same bytes, with a to z as A to Z.
  @inlinable
  public func isEqualIgnoringASCIICase(to other: some Sequence<UInt8>) -> Bool {
    elementsEqual(other) { Self.lowered($0) == Self.lowered($1) }
  }

  @inlinable @inline(__always)
  public static func lowered(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
}
