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
    /// Number of an object of the plan.
    case object(Int)
  }

  private let plan: MapPlan
  private let values: RecordValues
  /// Texts that stand neither in the record nor in the map.
  private let arena = Arena(blockSize: 1 << 12)
  private var usesArena = false
  /// Memory for the members of an object that takes some over from the record.
  private var spare: [(name: Text, value: Value)] = []

  init(_ plan: MapPlan, _ values: RecordValues) {
    self.plan = plan
    self.values = values
  }

  /// Writes an object of the plan.
  ///
  /// - Parameter line: the one that the record at hand stands in.
  func write(_ object: Int, of line: JSONView, to target: inout ByteBuffer) {
    if usesArena {
      arena.reset()
      usesArena = false
    }
    if !writeMembers(plan.objects[object], line, &target) { target.append("{}") }
  }

  /// - Returns: false, with nothing written, where no member has a value.
  private func writeMembers(_ object: MapPlan.Object, _ line: JSONView, _ target: inout ByteBuffer) -> Bool {
    let start = target.count
    if object.spreads.isEmpty {
      for number in object.members {
        let member = plan.members[number]
        guard let value = value(of: member.content) else { continue }
        let before = target.count
        target.append(member.quoted)
        if !write(value, line, &target) { target.truncate(to: before) }
      }
    } else {
      writeEntries(of: object, line, &target)
    }
    guard target.count > start else {
      if object.isAlwaysThere { target.append("{}") }
      return object.isAlwaysThere
    }
    // Each member has a comma before it.
    unsafe target.base[start] = UInt8(ascii: "{")
    target.append(UInt8(ascii: "}"))
    return true
  }

  /// Of equal names the first counts.
  private func writeEntries(of object: MapPlan.Object, _ line: JSONView, _ target: inout ByteBuffer) {
    var entries = spare
    spare = []
    for number in object.members {
      let member = plan.members[number]
      if let value = value(of: member.content) { entries.append((member.name, value)) }
    }
    for number in object.spreads { add(plan.spreads[number], line, &entries) }
    entries.sortNearlySorted { $0.name < $1.name }
    var last: Text?
    for (name, value) in entries where name != last {
      let before = target.count
      target.append(UInt8(ascii: ","))
      CanonicalJSON.appendString(name, to: &target)
      target.append(UInt8(ascii: ":"))
      if !write(value, line, &target) { target.truncate(to: before) }
      last = name
    }
    entries.removeAll(keepingCapacity: true)
    spare = entries
  }

  private func add(_ spread: MapPlan.Spread, _ line: JSONView, _ entries: inout [(name: Text, value: Value)]) {
    guard let source = values[spread.place] else { return }
    guard let number = spread.pairs else {
      var members = source.members
      while let (name, value) = members.next() { add(name, value, spread, &entries) }
      return
    }
    let (key, value) = plan.pairs[number]
    for pair in source.elements {
      guard let name = key.value(in: pair, of: line)?.scalarText else { continue }
      // A name without a value is told as one: null.
      add(name, value.value(in: pair, of: line), spread, &entries)
    }
  }

  private func add(
    _ name: Text, _ value: JSONView?, _ spread: MapPlan.Spread, _ entries: inout [(name: Text, value: Value)]
  ) {
    if plan.names.value(of: name, in: spread.except) != nil { return }
    if let only = spread.only, plan.names.value(of: name, in: only) == nil { return }
    var name = name
    if let renamed = plan.names.value(of: name, in: spread.renamed) { name = plan.texts[renamed] }
    if !spread.prefix.isEmpty { name = joined(spread.prefix, name) }
    addFlat(name, value, spread.separator, &entries)
  }

  private func addFlat(
    _ name: Text, _ value: JSONView?, _ separator: Text, _ entries: inout [(name: Text, value: Value)]
  ) {
    guard !separator.isEmpty, let value, value.kind == .object else {
      return entries.append((name, value.map { .view($0) } ?? .json("null")))
    }
    for member in value.members {
      addFlat(joined(joined(name, separator), member.key), member.value, separator, &entries)
    }
  }

  private func write(_ value: Value, _ line: JSONView, _ target: inout ByteBuffer) -> Bool {
    switch value {
    case .view(let view): CanonicalJSON.append(view, ordered: true, to: &target)
    case .text(let text): CanonicalJSON.appendString(text, to: &target)
    case .json(let text): target.append(text)
    case .object(let number): return writeMembers(plan.objects[number], line, &target)
    }
    return true
  }

  /// Nil where no source has one.
  private func value(of content: MapPlan.Content) -> Value? {
    switch content {
    case .object(let number): return .object(number)
    case .sources(let numbers):
      for number in numbers {
        switch plan.sources[number] {
        case .constant(let json): return .json(json)
        case .place(let place, let turn, let prefix):
          if let view = values[place], view.isGiven, let value = turned(view, turn, prefix) { return value }
        }
      }
      return nil
    }
  }

  /// Nil for what a table does not have.
  private func turned(_ view: JSONView, _ turn: MapPlan.Turn, _ prefix: Text) -> Value? {
    guard let text = view.scalarText else {
      if case .table = turn { return nil }
      return .view(view)
    }
    switch turn {
    case .none: return prefix.isEmpty ? .view(view) : .text(joined(prefix, text))
    case .table(let rows): return plan.names.value(of: text, in: rows).map { .json(plan.texts[$0]) }
    case .time(let number):
      guard let instant = plan.times[number].instant(text.trimmed) else { return .view(view) }
      return .text(self.text(of: instant))
    case .form(.text): return .text(prefix.isEmpty ? text : joined(prefix, text))
    case .form(.number):
      let number = text.trimmed
      return number.isJSONNumber && number.double != nil ? .json(number) : .view(view)
    case .form(.boolean):
      switch text.trimmed.description.lowercased() {
      case "true", "yes", "y", "1", "t": return .json("true")
      case "false", "no", "n", "0", "f": return .json("false")
      default: return .view(view)
      }
    case .form(.lowercase): return .text(changed(text, prefix, first: "A", last: "Z"))
    case .form(.uppercase): return .text(changed(text, prefix, first: "a", last: "z"))
    }
  }

  private func text(of instant: Instant) -> Text {
    let memory = unsafe allocate(24)
    unsafe instant.write(to: memory)
    return unsafe Text(base: memory, count: 24)
  }

  /// ASCII letters from `first` to `last` in the other case.
  private func changed(_ text: Text, _ prefix: Text, first: Unicode.Scalar, last: Unicode.Scalar) -> Text {
    let range = UInt8(ascii: first)...UInt8(ascii: last)
    let memory = unsafe allocate(prefix.count + text.count)
    unsafe copyBytes(prefix.base, to: memory, prefix.count)
    for index in 0..<text.count {
      unsafe memory[prefix.count + index] = range ~= text[index] ? text[index] ^ 0x20 : text[index]
    }
    return unsafe Text(base: memory, count: prefix.count + text.count)
  }

  private func joined(_ one: Text, _ other: Text) -> Text {
    let memory = unsafe allocate(one.count + other.count)
    unsafe copyBytes(one.base, to: memory, one.count)
    unsafe copyBytes(other.base, to: memory + one.count, other.count)
    return unsafe Text(base: memory, count: one.count + other.count)
  }

  private func allocate(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    usesArena = true
    return unsafe arena.allocate(count).assumingMemoryBound(to: UInt8.self)
  }
}
