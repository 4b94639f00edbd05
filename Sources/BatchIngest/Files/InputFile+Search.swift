extension InputFile {
  private static let pieceBytes = 1 << 20
  /// The maximum length of what is searched for.
  private static let overlap = 4 << 10

  /// Returns whether the file contains something, inflating it if compressed.
  ///
  /// - Parameter isThere: searches one piece; pieces overlap.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package func has(_ isThere: ([UInt8]) -> Bool) throws -> Bool {
    let reader = try FileReader(self)
    var piece: [UInt8] = []
    while true {
      let kept = min(piece.count, Self.overlap)
      piece.removeFirst(piece.count - kept)
      piece += [UInt8](repeating: 0, count: Self.pieceBytes)
      let count = try unsafe piece.withUnsafeMutableBytes {
        try unsafe reader.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[kept...]))
      }
      piece.removeLast(Self.pieceBytes - count)
      if isThere(piece) { return true }
      if count == 0 { return false }
    }
  }
}
