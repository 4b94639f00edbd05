import BatchFoundation

extension SplitMix64 {
  /// The bytes with one to three of them taken out, put in or changed, or a piece in place of another.
  package mutating func damaged(_ original: [UInt8]) -> [UInt8] {
    var bytes = original
    for _ in 0...below(3) {
      let at = below(bytes.count)
      switch below(4) {
      case 0: bytes.remove(at: at)
      case 1: bytes.insert(UInt8(below(128)), at: at)
      case 2: bytes[at] = UInt8(below(256))
      default:
        let other = below(bytes.count)
        bytes.replaceSubrange(at..<min(bytes.count, at + 8), with: bytes[other..<min(bytes.count, other + below(20))])
      }
    }
    return bytes
  }
}
