public import BatchFoundation

/// The sources of the events of a block, each as what differs from the one before: a byte or two where lines are near.
///
///     source = zigzag line delta << 1 | has file, [file]
///
/// Encoder and reader of a block have one each, from its first event on.
public struct SourceTrail {
  @usableFromInline var last = StoredSource.unknown

  @inlinable
  public init() {}

  @inlinable @inline(__always)
  public mutating func append(_ source: StoredSource, to body: inout ByteBuffer) {
    let delta = Int64(bitPattern: source.line &- last.line)
    let isOtherFile = source.file != last.file
    body.append(varint: UInt64(bitPattern: delta << 1 ^ delta >> 63) << 1 | (isOtherFile ? 1 : 0))
    if isOtherFile { body.append(varint: UInt64(source.file)) }
    last = source
  }

  @inlinable @inline(__always)
  public mutating func next(from block: inout BlockCursor) throws -> StoredSource {
    let head = try block.number()
    let zigzag = head >> 1
    last.line &+= zigzag >> 1 ^ (0 &- zigzag & 1)
    if head & 1 != 0 { last.file = UInt32(truncatingIfNeeded: try block.number()) }
    return last
  }
}
