import BatchFoundation
import BatchIngest

/// Objects and arrays that stand in texts, where a path leads into them (reference formats 6.3).
@safe final class JSONTexts {
  private var reader = JSONLineReader()
  private var tape = JSONTape(capacity: 1 << 10)
  private let arena = Arena(blockSize: 1 << 12)
  /// By the place of the text.
  private var opened: [Int: JSONView] = [:]

  /// Before the next line.
  func reset() {
    guard !opened.isEmpty else { return }
    opened.removeAll(keepingCapacity: true)
    arena.reset()
  }

  /// What the text holds; the value itself where it is none, or no object or array without flaws.
  @inline(__always)
  func value(of view: JSONView) -> JSONView { view.kind == .string ? open(view) : view }

  /// The same of a text that a path led into.
  func known(_ view: JSONView) -> JSONView { opened[CanonicalWriter.place(of: view)] ?? view }

  private func open(_ view: JSONView) -> JSONView {
    guard let text = view.string?.trimmed, text.count > 1, text[0] == UInt8(ascii: "{") || text[0] == UInt8(ascii: "[")
    else { return view }
    let place = CanonicalWriter.place(of: view)
    if let known = opened[place] { return known }
    tape.reset(keeping: 1 << 20)
    // What is no JSON stays a text.
    guard let flaws = unsafe try? reader.read(text.bytes, onto: &tape), !flaws.hasAny else { return view }
    let value = unsafe JSONView(at: arena.copy(tape.bytes.bindMemory(to: UInt8.self)).base)
    opened[place] = value
    return value
  }
}

extension JSONView {
  /// The array that readers of Parquet write as `{"list": [...]}`; the value itself for others.
  @inline(__always)
  var list: JSONView { kind == .object ? only("list") ?? self : self }

  /// The element that they write as `{"element": ...}`.
  @inline(__always)
  var item: JSONView { kind == .object ? only("element") ?? self : self }

  /// The value of the only member, if it is called so.
  private func only(_ name: Text) -> JSONView? {
    var members = self.members
    guard let first = members.next(), first.key == name, members.next() == nil else { return nil }
    return first.value
  }
}
