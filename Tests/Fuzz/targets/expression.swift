import BatchFoundation

extension FuzzTarget {
  /// An expression, a line feed, a value: an answer in bounded time.
  static func expression(_ input: UnsafeBufferPointer<UInt8>) {
    let bytes = input
    let feed = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
    guard let expression = try? LinearRegex(String(decoding: bytes[..<feed], as: UTF8.self)) else { return }
    _ = expression.verdict(on: UnsafeBufferPointer(rebasing: bytes[min(feed + 1, input.count)...]))
  }
}
