import BatchFoundation
import BatchIngest

/// Parses JSON objects and arrays that are stored as strings, when a path leads into them (reference formats 6.3).
@safe final class JSONTexts {
  private var reader = JSONReader()
  private var tape = JSONTape(capacity: 1 << 10)
  private let arena = Arena(blockSize: 1 << 12)
  /// The parsed values, by the address of their string.
  private var opened: [Int: JSONView] = [:]

  func reset() {
    guard !opened.isEmpty else { return }
    opened.removeAll(keepingCapacity: true)
    arena.reset()
  }

  /// Returns the object or array that a string contains as well-formed JSON; otherwise the value itself.
  @inline(__always)
  func value(of view: JSONView) -> JSONView { view.kind == .string ? open(view) : view }

  /// Returns the parsed value of a string into which a path has led since the last reset; otherwise the value itself.
  func known(_ view: JSONView) -> JSONView { opened[CanonicalWriter.place(of: view)] ?? view }

  private func open(_ view: JSONView) -> JSONView {
    guard let text = view.string?.trimmed, text.count > 1, text[0] == UInt8(ascii: "{") || text[0] == UInt8(ascii: "[")
    else { return view }
    let place = CanonicalWriter.place(of: view)
    if let known = opened[place] { return known }
    tape.reset(keeping: 1 << 20)
    // A string that is not well-formed JSON remains a string.
    guard let flaws = unsafe try? reader.read(text.bytes, onto: &tape), !flaws.hasAny else { return view }
    let value = unsafe JSONView(at: arena.copy(tape.bytes.bindMemory(to: UInt8.self)).base)
    opened[place] = value
    return value
  }
}

extension JSONView {
  /// The array in `{"list": [...]}`, as Parquet readers write lists; otherwise the value itself.
  @inline(__always)
  var list: JSONView { kind == .object ? only("list") ?? self : self }

  /// Whether the value is an array as Parquet readers write it: `{"list": [{"element": ...}]}`.
  var isParquetList: Bool {
    guard kind == .object, let list = only("list"), list.kind == .array else { return false }
    return list.elements.allSatisfy { $0.only("element") != nil }
  }

  /// The element in `{"element": ...}`, as Parquet readers write elements of lists; otherwise the value itself.
  @inline(__always)
  var item: JSONView { kind == .object ? only("element") ?? self : self }

  /// Returns the value of the object's only member if it has this name; otherwise nil.
  private func only(_ name: Text) -> JSONView? {
    var members = self.members
    guard let first = members.next(), first.key == name, members.next() == nil else { return nil }
    return first.value
  }
}

/// Writes JSON from strings of the input into a line.
struct EmbeddedJSON: ~Copyable {
  private var reader = JSONReader()
  private var tape = JSONTape(capacity: 1 << 10)

  /// - Returns: whether the text is an object or array in well-formed JSON; otherwise nothing is written.
  mutating func append(_ text: [UInt8], to target: inout ByteBuffer) -> Bool {
    unsafe text.withUnsafeBufferPointer { bytes in unsafe append(bytes, to: &target) }
  }

  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, to target: inout ByteBuffer) -> Bool {
    tape.reset(keeping: 1 << 20)
    guard unsafe firstInvalidUTF8(bytes) == nil else { return false }
    // Other text is not JSON.
    guard let flaws = unsafe try? reader.read(bytes, onto: &tape), !flaws.hasAny else { return false }
    let view = tape.view(at: 0)
    guard view.kind == .object || view.kind == .array else { return false }
    CanonicalJSON.append(view, to: &target)
    return true
  }
}
