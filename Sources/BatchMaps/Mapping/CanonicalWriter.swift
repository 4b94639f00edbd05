import BatchFoundation
import BatchIngest

/// Writes what the rules of a map make of a record.
final class CanonicalWriter {
  /// A value that a field takes.
  private enum Value {
    case view(JSONView)
    case text(Text)
    case number(Text)
    case flag(Bool)
    case null
    /// Number of an object of the plan.
    case object(Int)
  }

  private typealias Entry = (name: Text, value: Value)

  private let plan: MapPlan
  private let values: RecordValues
  /// What stands before the fraction of a number in a text; nil for numbers as JSON has them.
  private let decimal: UInt8?
  private var warnings: [LineWarning] = []
  /// Texts that stand neither in the record nor in the map.
  private let arena = Arena(blockSize: 1 << 12)
  private var usesArena = false
  /// Memory for the members of an object that takes some over from the record.
  private var spare: [Entry] = []

  init(_ plan: MapPlan, _ values: RecordValues, decimal: UInt8?) {
    self.decimal = decimal
    self.plan = plan
    self.values = values
  }

  /// Writes an object of the plan as a line.
  ///
  /// - Parameter line: the one that the record at hand stands in.
  /// - Returns: what is to be said of it.
  func write(_ object: Int, of line: JSONView, to target: inout CanonicalLines) -> [LineWarning] {
    if !warnings.isEmpty { warnings = [] }
    if usesArena {
      arena.reset()
      usesArena = false
    }
    _ = write(plan.objects[object], isAlwaysThere: true, line, &target)
    return warnings
  }

  /// - Returns: false, with nothing written, where no member has a value.
  private func write(
    _ object: MapPlan.Object, isAlwaysThere: Bool, _ line: JSONView, _ target: inout CanonicalLines
  ) -> Bool {
    let start = target.beginObject()
    if object.spreads.isEmpty {
      for number in object.members {
        let member = plan.members[number]
        guard let value = value(of: member.content) else { continue }
        let before = target.end
        target.append(name: member.quoted, key: member.key)
        if !write(value, line, &target) { target.truncate(to: before) }
      }
    } else {
      writeEntries(of: object, line, &target)
    }
    return target.endObject(start, isAlwaysThere: isAlwaysThere)
  }

  /// Of equal names the first counts.
  private func writeEntries(of object: MapPlan.Object, _ line: JSONView, _ target: inout CanonicalLines) {
    var entries = spare
    spare = []
    for number in object.members {
      let member = plan.members[number]
      if let value = value(of: member.content) { entries.append((member.name, value)) }
    }
    for number in object.spreads { add(plan.spreads[number], line, &entries) }
    entries.sortNearlySorted { $0.name < $1.name }
    for place in entries.indices where place == 0 || entries[place].name != entries[place - 1].name {
      let before = target.end
      target.append(name: entries[place].name)
      if !write(entries[place].value, line, &target) { target.truncate(to: before) }
    }
    entries.removeAll(keepingCapacity: true)
    spare = entries
  }

  private func add(_ spread: MapPlan.Spread, _ line: JSONView, _ entries: inout [Entry]) {
    guard let source = values[spread.place] else { return }
    guard let number = spread.pairs else {
      var members = source.members
      while let (name, value) = members.next() { add(name, .view(value), spread, &entries) }
      return
    }
    let (key, value) = plan.pairs[number]
    for pair in source.elements {
      guard let name = key.value(in: pair, of: line)?.scalarText else { continue }
      // A name without a value is told as one: null.
      add(name, value.value(in: pair, of: line).map { .view($0) } ?? .null, spread, &entries)
    }
  }

  private func add(_ name: Text, _ value: Value, _ spread: MapPlan.Spread, _ entries: inout [Entry]) {
    if plan.names.value(of: name, in: spread.except) != nil { return }
    if let only = spread.only, plan.names.value(of: name, in: only) == nil { return }
    var name = name
    if let renamed = plan.names.value(of: name, in: spread.renamed) { name = plan.newNames[renamed] }
    if !spread.prefix.isEmpty { name = joined(spread.prefix, name) }
    if spread.separator.isEmpty {
      entries.append((name, value))
    } else {
      addFlat(name, value, spread.separator, &entries)
    }
  }

  private func addFlat(_ name: Text, _ value: Value, _ separator: Text, _ entries: inout [Entry]) {
    guard case .view(let view) = value, view.kind == .object else { return entries.append((name, value)) }
    for member in view.members {
      addFlat(joined(joined(name, separator), member.key), .view(member.value), separator, &entries)
    }
  }

  private func write(_ value: Value, _ line: JSONView, _ target: inout CanonicalLines) -> Bool {
    switch value {
    case .view(let view): target.append(view)
    case .text(let text): target.append(string: text)
    case .number(let text): target.append(number: text)
    case .flag(let flag): target.append(flag)
    case .null: target.appendNull()
    case .object(let number):
      let object = plan.objects[number]
      return write(object, isAlwaysThere: object.isAlwaysThere, line, &target)
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
        case .constant(let value): return .view(value)
        case .value(let place):
          if let view = values[place], view.isGiven { return .view(view) }
        case .turned(let place, let turn, let prefix):
          guard let view = values[place], view.isGiven else { continue }
          guard let text = view.scalarText else {
            if case .table = turn { continue }
            return .view(view)
          }
          if let value = turned(text, .view(view), turn, prefix) { return value }
        case .joined(let number, let turn, let prefix):
          if let text = text(of: plan.joins[number]), let value = turned(text, .text(text), turn, prefix) {
            return value
          }
        }
      }
      return nil
    }
  }

  /// The texts of several places; nil where none has one.
  private func text(of join: (places: [MapOutline.Place], separator: Text)) -> Text? {
    join.places.reduce(nil) { before, place in
      guard let view = values[place], view.isGiven, let text = view.scalarText else { return before }
      return before.map { joined(joined($0, join.separator), text) } ?? text
    }
  }

  /// Nil for what a table does not have.
  ///
  /// - Parameter same: the value as it is.
  private func turned(_ text: Text, _ same: Value, _ turn: MapPlan.Turn, _ prefix: Text) -> Value? {
    switch turn {
    case .none: return .text(joined(prefix, text))
    case .table(let rows, let form):
      return plan.names.value(of: cased(text, form), in: rows).map { .view(plan.constants[$0]) }
    case .time(let number):
      // What is written so stays as it is, whether it is a time or not: whoever reads the line sees.
      if plan.times[number].isWritten(text) { return same }
      let trimmed = text.trimmed
      guard let instant = plan.times[number].instant(trimmed) else { return same }
      return .text(plan.times[number].isWritten(trimmed) ? trimmed : self.text(of: instant))
    case .number(let path):
      var number = text.trimmed
      if let decimal, case .view(let view) = same, view.kind == .string {
        number = DecimalComma.plain(number, decimal).map { copy($0) } ?? .empty
      }
      if number.isJSONNumber, number.double != nil { return .number(number) }
      warnings.append(
        .notANumber(plan.numberPaths[path], hasComma: decimal == nil && text.description.contains(",")))
      return same
    case .form(.boolean):
      switch text.trimmed.description.lowercased() {
      case "true", "yes", "y", "1", "t": return .flag(true)
      case "false", "no", "n", "0", "f": return .flag(false)
      default: return same
      }
    case .form(let form):
      let text = cased(text, form)
      return .text(prefix.isEmpty ? text : joined(prefix, text))
    }
  }

  private func cased(_ text: Text, _ form: MapValueForm?) -> Text {
    switch form {
    case .lowercase: changed(text, first: "A", last: "Z")
    case .uppercase: changed(text, first: "a", last: "z")
    default: text
    }
  }

  private func text(of instant: Instant) -> Text {
    let memory = unsafe allocate(24)
    unsafe instant.write(to: memory)
    return unsafe Text(base: memory, count: 24)
  }

  /// ASCII letters from `first` to `last` in the other case.
  private func changed(_ text: Text, first: Unicode.Scalar, last: Unicode.Scalar) -> Text {
    let range = UInt8(ascii: first)...UInt8(ascii: last)
    let memory = unsafe allocate(text.count)
    for index in 0..<text.count { unsafe memory[index] = range ~= text[index] ? text[index] ^ 0x20 : text[index] }
    return unsafe Text(base: memory, count: text.count)
  }

  private func joined(_ one: Text, _ other: Text) -> Text {
    let memory = unsafe allocate(one.count + other.count)
    unsafe copyBytes(one.base, to: memory, one.count)
    unsafe copyBytes(other.base, to: memory + one.count, other.count)
    return unsafe Text(base: memory, count: one.count + other.count)
  }

  private func copy(_ bytes: [UInt8]) -> Text {
    usesArena = true
    return unsafe bytes.withUnsafeBufferPointer { unsafe arena.copy($0) }
  }

  private func allocate(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    usesArena = true
    return unsafe arena.allocate(count).assumingMemoryBound(to: UInt8.self)
  }
}
