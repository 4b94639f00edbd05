internal import CBytes

/// The offset behind the last line feed; 0 without one.
func endOfLastLine(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int {
  var end = count
  while end > 0, unsafe base[end - 1] != 0x0A { end -= 1 }
  return end
}

/// The number of line feeds among the bytes; counted in C, whose compiler does many at a time.
func countLineFeeds(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int { unsafe engage_count_line_feeds(base, count) }
