import BatchFoundation
import BatchIngest

/// Reads JSON that stands in a text.
struct EmbeddedJSON: ~Copyable {
  private var reader = JSONLineReader()
  private var tape = JSONTape(capacity: 1 << 10)

  /// - Returns: false, with nothing written, for what is no object and no array without flaws; it stays a text.
  mutating func append(_ text: [UInt8], to target: inout ByteBuffer) -> Bool {
    unsafe text.withUnsafeBufferPointer { bytes in unsafe append(bytes, to: &target) }
  }

  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, to target: inout ByteBuffer) -> Bool {
    tape.reset(keeping: 1 << 20)
    guard unsafe firstInvalidUTF8(bytes) == nil else { return false }
    let flaws: JSONFlaws
    do {
      flaws = try unsafe reader.read(bytes, onto: &tape)
    } catch {
      return false
    }
    let view = tape.view(at: 0)
    guard !flaws.hasAny, view.kind == .object || view.kind == .array else { return false }
    CanonicalJSON.append(view, to: &target)
    return true
  }
}
