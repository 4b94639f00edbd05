/// The offset behind the last line feed; 0 without one.
func endOfLastLine(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int {
  var end = count
  while end > 0, unsafe base[end - 1] != 0x0A { end -= 1 }
  return end
}

/// The number of line feeds among the bytes, eight at a time.
func countLineFeeds(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int {
  let ones: UInt64 = 0x0101_0101_0101_0101
  let sevens: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
  var total = 0
  var at = 0
  while at + 8 <= count {
    // Each byte of the sums counts to 255 at most before they are added up.
    let stop = min(count - 7, at + 8 * 255)
    var sums: UInt64 = 0
    while at < stop {
      let word = unsafe UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self) ^ (ones &* 0x0A)
      sums &+= ~((word & sevens) &+ sevens | word) >> 7 & ones
      at += 8
    }
    let pairs = (sums & 0x00FF_00FF_00FF_00FF) &+ (sums >> 8 & 0x00FF_00FF_00FF_00FF)
    total += Int((pairs &* 0x0001_0001_0001_0001) >> 48)
  }
  while at < count {
    if unsafe base[at] == 0x0A { total += 1 }
    at += 1
  }
  return total
}
