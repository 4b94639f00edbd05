internal import CBytes

/// The shapes of the lines that a reader has read: all bytes between their values. The lines of an export have few
/// shapes, so most lines are compared with one instead of being parsed (objects in lines: ``KnownObjects``).
@safe struct LineShapes: ~Copyable {
  /// The number of lines read before shapes are learned, so that a reader of a few documents allocates nothing.
  private static let untaught = 16

  /// Nil before the first shape is learned, and if memory cannot be allocated.
  private var shapes: OpaquePointer?
  private var lines = 0

  deinit { if let shapes = unsafe shapes { unsafe engage_free_shapes(shapes) } }

  /// Appends the value of a line with a known shape to the tape; returns false for any other line.
  @inline(__always)
  func read(_ line: UnsafeBufferPointer<UInt8>, onto tape: inout JSONTape) -> Bool {
    guard let shapes = unsafe shapes, let base = line.baseAddress, line.count <= engage_longest_shaped_line else {
      return false
    }
    return unsafe tape.append(atMost: engage_shaped_tape_bound(line.count)) {
      unsafe engage_read_shaped(shapes, base, line.count, $0)
    }
  }

  /// Learns the shape of a valid line without flaws.
  mutating func learn(_ line: UnsafeBufferPointer<UInt8>) {
    lines += 1
    guard lines > Self.untaught, let base = line.baseAddress, line.count <= engage_longest_shaped_line else { return }
    if unsafe shapes == nil { unsafe shapes = engage_make_shapes() }
    if let shapes = unsafe shapes { unsafe engage_learn_shape(shapes, base, line.count) }
  }
}
