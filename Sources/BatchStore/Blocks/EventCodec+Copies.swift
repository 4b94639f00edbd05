extension EventCodec {
  /// The events of a block that are wanted, in their order, in blocks of these limits.
  package func copy(
    of block: [UInt8], limits: BlockLimits = .ofParts, where isWanted: (any EventCursor) throws -> Bool = { _ in true }
  ) throws -> EventBlocks {
    let cursor = try cursor(of: block)
    let writer = writer(limits)
    while try cursor.next() {
      if try isWanted(cursor) { writer.append(cursor) }
    }
    return writer.finish()
  }
}
