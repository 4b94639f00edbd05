internal import CBytes

/// Returns the offset after the last line feed; 0 without one.
func endOfLastLine(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int {
  var end = count
  while end > 0, unsafe base[end - 1] != 0x0A { end -= 1 }
  return end
}

@safe struct LineEnds: ~Copyable {
  /// The number of line ends kept, enough for a block of short lines; any further ones are searched for while reading.
  private static let room = 1 << 14

  private var places: UnsafeMutablePointer<UInt32>?
  private var known = 0
  /// The number of line feeds in the block, including those not kept.
  private(set) var count = 0
  /// Whether all bytes are ASCII, so that no check for UTF-8 is needed.
  private(set) var areOfASCII = false

  deinit { unsafe places?.deallocate() }

  mutating func removeAll() { (known, count, areOfASCII) = (0, 0, false) }

  mutating func find(in base: UnsafePointer<UInt8>, _ bytes: Int) {
    let places = unsafe self.places ?? .allocate(capacity: Self.room)
    unsafe self.places = places
    var isASCII: Int32 = 0
    count = unsafe engage_find_line_feeds(base, bytes, places, Self.room, &isASCII)
    known = min(count, Self.room)
    areOfASCII = isASCII != 0
  }

  /// Returns the place of the line feed with this number, from 0; nil if it is not known.
  @inline(__always)
  func place(of number: Int) -> Int? {
    guard number < known, let places = unsafe places else { return nil }
    return unsafe Int(places[number])
  }
}

/// Counts the line feeds, in C because its compiler vectorizes the loop.
func countLineFeeds(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int { unsafe engage_count_line_feeds(base, count) }
