/// Bytes that are looked for in others (Horspool).
package struct BytePattern {
  let bytes: [UInt8]
  /// By the byte below the end of the pattern, how far it may move on.
  private let steps: [Int]

  /// - Parameter bytes: at least one.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var steps = [Int](repeating: bytes.count, count: 256)
    for (place, byte) in bytes.dropLast().enumerated() { steps[Int(byte)] = bytes.count - 1 - place }
    self.steps = steps
  }

  /// Where it stands first from `start` on; nil if nowhere.
  package func place(in text: [UInt8], from start: Int = 0) -> Int? {
    var at = start
    while at + bytes.count <= text.count {
      let last = text[at + bytes.count - 1]
      if last == bytes[bytes.count - 1], text[at..<at + bytes.count].elementsEqual(bytes) { return at }
      at += steps[Int(last)]
    }
    return nil
  }
}
