import BatchExpressions

/// An expression, a line feed, a value: an answer in bounded time.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  let feed = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
  guard let expression = try? LinearRegex(String(decoding: bytes[..<feed], as: UTF8.self)) else { return 0 }
  _ = expression.verdict(on: UnsafeBufferPointer(rebasing: bytes[min(feed + 1, count)...]))
  return 0
}
