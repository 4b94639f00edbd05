import BatchFoundation
import BatchIngest
import BatchJSON

/// Writes lines in their canonical form: members by the UTF-8 bytes of their names at every depth, no white space, texts with the fewest
/// escapes, numbers as they were written (reference decisions 46).
final class CanonicalWriter {
  /// A value that a field takes.
  private enum Value {
    case view(JSONView)
    case text(Text)
    /// As it stands in JSON.
    case json(Text)
    case constant([UInt8])
    case object(MapObject)
  }

  private struct Entry {
    var name: Text
    var value: Value
    /// Of equal names the lowest counts.
    var rank: Int
  }

  /// Texts that stand neither in the record nor in the map.
  private let arena = Arena(blockSize: 1 << 12)
  private var usesArena = false

  /// Forgets the record before.
  func reset() {
    guard usesArena else { return }
    arena.reset()
    usesArena = false
  }

  func write(_ object: MapObject, of record: JSONView, in line: JSONView, to target: inout ByteBuffer) {
    if !writeMembers(object, record, line, &target) { target.append("{}") }
  }

  /// - Returns: false, with nothing written, where no member has a value.
  private func writeMembers(
    _ object: MapObject, _ record: JSONView, _ line: JSONView, _ target: inout ByteBuffer
  ) -> Bool {
    let start = target.count
    var isFirst = true
    func write(_ name: Text, _ value: Value) {
      let before = target.count
      target.append(isFirst ? "{" : ",")
      CanonicalJSON.appendString(name, to: &target)
      target.append(":")
      if self.write(value, record, line, &target) { isFirst = false } else { target.truncate(to: before) }
    }
    if object.spreads.isEmpty {
      for member in object.members {
        if let value = value(of: member.node, record, line) { member.name.withText { write($0, value) } }
      }
    } else {
      for entry in entries(object, record, line) { write(entry.name, entry.value) }
    }
    if isFirst {
      target.truncate(to: start)
      if object.isAlwaysThere { target.append("{}") }
      return object.isAlwaysThere
    }
    target.append("}")
    return true
  }

  private func entries(_ object: MapObject, _ record: JSONView, _ line: JSONView) -> [Entry] {
    var entries: [Entry] = []
    for member in object.members {
      if let value = value(of: member.node, record, line) {
        entries.append(Entry(name: copy(member.name), value: value, rank: entries.count))
      }
    }
    for spread in object.spreads {
      guard let source = spread.path.value(in: record, of: line) else { continue }
      switch spread.form {
      case .members: for member in source.members { add(member.key, member.value, spread, &entries) }
      case .pairs(let key, let value):
        for pair in source.elements {
          guard let name = key.value(in: pair, of: line)?.scalarText else { continue }
          // A name without a value is told as one: null.
          add(name, value.value(in: pair, of: line), spread, &entries)
        }
      }
    }
    entries.sort { $0.name == $1.name ? $0.rank < $1.rank : $0.name < $1.name }
    var kept: [Entry] = []
    for entry in entries where kept.last?.name != entry.name { kept.append(entry) }
    return kept
  }

  private func add(_ name: Text, _ value: JSONView?, _ spread: MapSpread, _ entries: inout [Entry]) {
    let bytes = unsafe Array(name.bytes)
    guard !spread.except.contains(bytes), spread.only?.contains(bytes) ?? true else { return }
    var name = name
    if let renamed = spread.renamed[bytes] { name = copy(renamed) }
    if !spread.prefix.isEmpty { name = joined(spread.prefix, name) }
    addFlat(name, value, spread.separator, &entries)
  }

  private func addFlat(_ name: Text, _ value: JSONView?, _ separator: [UInt8]?, _ entries: inout [Entry]) {
    if let separator, let value, value.kind == .object {
      for member in value.members {
        unsafe addFlat(joined(Array(name.bytes) + separator, member.key), member.value, separator, &entries)
      }
    } else {
      entries.append(Entry(name: name, value: value.map { .view($0) } ?? .json("null"), rank: entries.count))
    }
  }

  private func write(_ value: Value, _ record: JSONView, _ line: JSONView, _ target: inout ByteBuffer) -> Bool {
    switch value {
    case .view(let view): CanonicalJSON.append(view, ordered: true, to: &target)
    case .text(let text): CanonicalJSON.appendString(text, to: &target)
    case .json(let text): target.append(text)
    case .constant(let bytes): bytes.withText { target.append($0) }
    case .object(let object): return writeMembers(object, record, line, &target)
    }
    return true
  }

  private func value(of node: MapNode, _ record: JSONView, _ line: JSONView) -> Value? {
    switch node {
    case .object(let object): .object(object)
    case .value(let value): self.value(of: value, record, line)
    }
  }

  /// Nil where no source has one.
  private func value(of value: MapValue, _ record: JSONView, _ line: JSONView) -> Value? {
    for source in value.sources {
      switch source.origin {
      case .constant(let constant): return .constant(constant.json)
      case .paths(let paths):
        for path in paths {
          guard let view = path.value(in: record, of: line), view.isGiven else { continue }
          if let value = convert(view, source) { return value }
        }
        if let fallback = source.fallback { return .constant(fallback.json) }
      }
    }
    return nil
  }

  /// Nil for what a table does not have.
  private func convert(_ view: JSONView, _ source: MapSource) -> Value? {
    guard let text = view.scalarText else { return source.table == nil ? .view(view) : nil }
    if let table = source.table {
      guard let constant = table.rows[unsafe Array(text.bytes)] else { return nil }
      return .constant(constant.json)
    }
    if let time = source.time {
      guard let instant = time.instant(text.trimmed) else { return .view(view) }
      return .text(copy(Array(instant.rfc3339.utf8)))
    }
    switch source.form {
    case nil: return source.prefix.isEmpty ? .view(view) : .text(joined(source.prefix, text))
    case .text: return .text(source.prefix.isEmpty ? text : joined(source.prefix, text))
    case .number:
      let number = text.trimmed
      return number.isJSONNumber && number.double != nil ? .json(number) : .view(view)
    case .boolean:
      switch text.trimmed.description.lowercased() {
      case "true", "yes", "y", "1", "t": return .json("true")
      case "false", "no", "n", "0", "f": return .json("false")
      default: return .view(view)
      }
    case .lowercase: return .text(changed(text, source.prefix, first: "A", last: "Z"))
    case .uppercase: return .text(changed(text, source.prefix, first: "a", last: "z"))
    }
  }

  /// ASCII letters from `first` to `last` in the other case.
  private func changed(_ text: Text, _ prefix: [UInt8], first: Unicode.Scalar, last: Unicode.Scalar) -> Text {
    let range = UInt8(ascii: first)...UInt8(ascii: last)
    return copy(prefix + text.map { range ~= $0 ? $0 ^ 0x20 : $0 })
  }

  private func joined(_ prefix: [UInt8], _ text: Text) -> Text { unsafe copy(prefix + Array(text.bytes)) }

  private func copy(_ bytes: [UInt8]) -> Text {
    usesArena = true
    return unsafe bytes.withUnsafeBufferPointer { unsafe arena.copy($0) }
  }
}
