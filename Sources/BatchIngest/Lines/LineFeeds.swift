internal import CBytes

/// The offset behind the last line feed; 0 without one.
func endOfLastLine(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int {
  var end = count
  while end > 0, unsafe base[end - 1] != 0x0A { end -= 1 }
  return end
}

/// Where the lines of a block end.
@safe struct LineEnds: ~Copyable {
  /// As many as a block of short lines has; those of a block with more are looked for when they are read.
  private static let room = 1 << 14

  private var places: UnsafeMutablePointer<UInt32>?
  private var known = 0
  /// Of the block, all.
  private(set) var count = 0
  /// Whether no byte of the block needs to be looked at to see that it is UTF-8.
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

  /// The place of the line feed with that number, from 0; nil for one that is not known.
  @inline(__always)
  func place(of number: Int) -> Int? {
    guard number < known, let places = unsafe places else { return nil }
    return unsafe Int(places[number])
  }
}

/// The number of line feeds among the bytes; counted in C, whose compiler does many at a time.
func countLineFeeds(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int { unsafe engage_count_line_feeds(base, count) }
