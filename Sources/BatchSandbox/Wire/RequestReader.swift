import Glibc

/// Splits the bytes of a connection into requests, as they arrive.
struct RequestReader {
  enum Part {
    case head(RequestHead)
    case body(ArraySlice<UInt8>)
    case end
  }

  private enum State {
    case head
    case body(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailers
  }

  /// The maximum number of bytes before a body, far more than any client sends.
  private static let largestHead = 80 << 10

  private var bytes: [UInt8] = []
  /// The start of the bytes not yet returned.
  private var place = 0
  private var state = State.head

  /// The number of received bytes not yet returned.
  var unread: Int { bytes.count - place }

  mutating func append(_ piece: UnsafeRawBufferPointer) {
    if place == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      place = 0
    }
    unsafe bytes.append(contentsOf: piece)
  }

  /// Returns the next part; nil until more has arrived.
  ///
  /// - Throws: ``RequestError``, after which nothing can be read.
  mutating func next() throws(RequestError) -> Part? {
    while true {
      switch state {
      case .head:
        // Empty lines between requests are skipped (RFC 9112, 2.2).
        while place < bytes.count, bytes[place] == 13 || bytes[place] == 10 { place += 1 }
        guard let lines = try lines(upTo: "\r\n\r\n") else { return nil }
        let head = try RequestHead(lines)
        switch try head.framing {
        case .length(let length): state = .body(left: length)
        case .chunks: state = .chunkSize
        }
        return .head(head)
      case .body(left: 0):
        state = .head
        return .end
      case .body(let left):
        guard let piece = take(atMost: left) else { return nil }
        state = .body(left: left - piece.count)
        return .body(piece)
      case .chunkSize:
        guard let line = try lines(upTo: "\r\n") else { return nil }
        // Extensions follow a semicolon.
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard !digits.isEmpty, digits.count <= 8, let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw RequestError() }
        state = size == 0 ? .trailers : .chunk(left: size)
      case .chunk(left: 0): state = .chunkEnd
      case .chunk(let left):
        guard let piece = take(atMost: left) else { return nil }
        state = .chunk(left: left - piece.count)
        return .body(piece)
      case .chunkEnd:
        guard let line = try lines(upTo: "\r\n") else { return nil }
        guard line.isEmpty else { throw RequestError() }
        state = .chunkSize
      case .trailers:
        guard let line = try lines(upTo: "\r\n") else { return nil }
        guard line.isEmpty else { continue }
        state = .head
        return .end
      }
    }
  }

  private mutating func take(atMost count: Int) -> ArraySlice<UInt8>? {
    guard place < bytes.count else { return nil }
    let end = min(bytes.count, place + count)
    defer { place = end }
    return bytes[place..<end]
  }

  /// Returns the bytes before a mark, which ends with a line feed, and skips the mark; nil until the mark has arrived.
  private mutating func lines(upTo mark: String) throws(RequestError) -> ArraySlice<UInt8>? {
    let found = unsafe bytes.withUnsafeBytes { bytes -> Int? in
      guard let start = bytes.baseAddress else { return nil }
      var from = place
      while from < bytes.count, let line = unsafe memchr(start + from, 10, bytes.count - from) {
        from = unsafe UnsafeRawPointer(line) - start + 1
        let end = from - mark.utf8.count
        if end >= place, unsafe mark.utf8.elementsEqual(bytes[end..<from]) { return end }
      }
      return nil
    }
    guard let found, found - place <= Self.largestHead else {
      if found != nil || unread > Self.largestHead { throw RequestError() }
      return nil
    }
    defer { place = found + mark.utf8.count }
    return bytes[place..<found]
  }
}
