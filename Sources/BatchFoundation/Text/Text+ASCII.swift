extension Text {
  /// Whether both are the same bytes, with a to z as A to Z.
  @inlinable
  public func isEqualIgnoringASCIICase(to other: some Sequence<UInt8>) -> Bool {
    elementsEqual(other) { Self.lowered($0) == Self.lowered($1) }
  }

  @inlinable @inline(__always)
  public static func lowered(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
}

/// A text as it is compared where neither the case of ASCII letters nor white space at its ends counts.
package struct FoldedText: Hashable, Sendable {
  package let bytes: [UInt8]

  package init(_ text: String) { self.init(Array(text.utf8)) }

  package init(_ text: Text) { self.init(unsafe Array(text.bytes)) }

  private init(_ text: [UInt8]) {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    guard let first = text.firstIndex(where: { !isBlank($0) }), let last = text.lastIndex(where: { !isBlank($0) })
    else {
      bytes = []
      return
    }
    bytes = text[first...last].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}
