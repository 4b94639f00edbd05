/// A byte string to look for (Boyer, Moore, Horspool): most bytes of a body are never looked at.
struct Needle: Sendable {
  let bytes: [UInt8]
  /// How far the end may move when the byte under it is this one.
  private let skips: [Int]

  /// - Parameter bytes: not empty.
  init(_ bytes: [UInt8]) {
    precondition(!bytes.isEmpty, "nothing to look for")
    self.bytes = bytes
    var skips = [Int](repeating: bytes.count, count: 256)
    for (index, byte) in bytes.dropLast().enumerated() { skips[Int(byte)] = bytes.count - 1 - index }
    self.skips = skips
  }

  init(_ text: String) { self.init(Array(text.utf8)) }

  /// Where the needle first stands at or behind `start`; nil if nowhere.
  func find(in haystack: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
    let count = bytes.count
    return unsafe skips.withUnsafeBufferPointer { skips in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        var end = start + count - 1
        while end < haystack.count {
          let last = unsafe haystack[end]
          if unsafe last == bytes[count - 1] {
            var offset = 0
            while offset < count - 1, unsafe haystack[end - count + 1 + offset] == bytes[offset] { offset += 1 }
            if offset == count - 1 { return end - count + 1 }
          }
          unsafe end += skips[Int(last)]
        }
        return nil
      }
    }
  }

  func occurrences(in haystack: UnsafeRawBufferPointer) -> Int {
    var found = 0
    var start = 0
    while let place = unsafe find(in: haystack, from: start) {
      found += 1
      start = place + bytes.count
    }
    return found
  }
}
