import BatchFoundation
import BatchIngest

/// Writes the lines that the rules of a map produce from a record.
final class CanonicalWriter {
  private enum Value {
    case view(JSONView)
    case text(Text)
    case number(Text)
    case flag(Bool)
    /// An object of the plan, by its index in ``MapPlan/objects``.
    case object(Int)
    /// An object without the members that are read elsewhere, and the index of these members in ``MapPlan/reads``.
    case rest(JSONView, Int)
  }

  private typealias Entry = (name: Text, value: Value)

  private let plan: MapPlan
  private let values: RecordValues
  /// The decimal sign of numbers in strings; nil for JSON's point.
  private let decimal: UInt8?
  private var warnings: [LineWarning] = []
  /// The memory for texts that are neither in the record nor in the map.
  private let arena = Arena(blockSize: 1 << 12)
  private var usesArena = false
  /// Whether numbers in the current field become strings.
  private var isOfTexts = false
  /// Memory that is reused for the members of objects that copy members from the record.
  private var spare: [Entry] = []
  /// The number of the current record in `each`, from 1.
  var element = 0
  /// The addresses of the values that were copied to lines; nil if they are not collected.
  var taken: Set<Int>?

  init(_ plan: MapPlan, _ values: RecordValues, decimal: UInt8?) {
    (self.decimal, self.plan, self.values) = (decimal, plan, values)
  }

  /// Writes an object of the plan as a line.
  ///
  /// - Parameter object: the index of the object in ``MapPlan/objects``.
  /// - Returns: the warnings.
  func write(_ object: Int, of line: JSONView, to target: inout CanonicalLines) -> [LineWarning] {
    if !warnings.isEmpty { warnings = [] }
    if usesArena {
      arena.reset()
      usesArena = false
    }
    _ = write(plan.objects[object], isWhole: true, into: nil, line, &target)
    return warnings
  }

  /// - Parameters:
  ///   - isWhole: whether the object is a whole line, which is written even if it has no members.
  ///   - given: an object to merge this one into, or a value to use if it has no members; nil if there is none.
  /// - Returns: whether something was written. Nothing is written if no member has a value.
  private func write(
    _ object: MapPlan.Object, isWhole: Bool = false, into given: Value?, _ line: JSONView,
    _ target: inout CanonicalLines
  ) -> Bool {
    let before = target.end
    let start = target.beginObject()
    var base = object.base.flatMap { value(of: .sources($0)) } ?? given
    var isObject = false
    if case .view(let view) = base, case let inner = values.texts.value(of: view), inner.kind == .object {
      (base, isObject) = (.view(inner), true)
    }
    if object.spreads.isEmpty, base == nil {
      writeMembers(of: object, line, &target)
      return target.endObject(start, isAlwaysThere: isWhole || object.isAlwaysThere)
    }
    writeEntries(of: object, base, line, &target)
    if target.endObject(start, isAlwaysThere: isWhole || object.isAlwaysThere || isObject) { return true }
    guard let base, !isObject else { return false }
    target.truncate(to: before)
    return write(base, line, &target)
  }

  private func writeMembers(of object: MapPlan.Object, _ line: JSONView, _ target: inout CanonicalLines) {
    for number in object.members {
      let member = plan.members[number]
      guard let value = value(of: member.content) else { continue }
      let before = target.end
      target.append(name: member.quoted, key: member.key)
      let wasOfTexts = isOfTexts
      if member.isOfTexts { isOfTexts = true }
      if !write(value, line, &target) { target.truncate(to: before) }
      isOfTexts = wasOfTexts
    }
  }

  /// Writes members, including copied ones, sorted by name; if several have the same name, the first one counts.
  private func writeEntries(
    of object: MapPlan.Object, _ base: Value?, _ line: JSONView, _ target: inout CanonicalLines
  ) {
    var entries = spare
    spare = []
    for number in object.members {
      let member = plan.members[number]
      if let value = value(of: member.content) { entries.append((member.name, value)) }
    }
    for number in object.spreads { add(plan.spreads[number], line, &entries) }
    if case .view(let view) = base {
      var members = view.members
      while let (name, value) = members.next() { if !value.isAbsent { entries.append((name, .view(value))) } }
    } else if case .rest(let view, let read) = base {
      forEachMember(of: view, besides: read) { entries.append(($0, $1)) }
    }
    entries.sortNearlySorted { $0.name < $1.name }
    for place in entries.indices where place == 0 || entries[place].name != entries[place - 1].name {
      let before = target.end
      target.append(name: entries[place].name)
      let isWritten =
        if case .object(let number) = entries[place].value {
          write(plan.objects[number], into: next(place, entries), line, &target)
        } else {
          write(entries[place].value, line, &target)
        }
      if !isWritten { target.truncate(to: before) }
    }
    entries.removeAll(keepingCapacity: true)
    spare = entries
  }

  /// Returns the next value with the same name, with which an object of the plan is merged; nil if there is none.
  private func next(_ place: Int, _ entries: [Entry]) -> Value? {
    guard place + 1 < entries.count, entries[place + 1].name == entries[place].name else { return nil }
    return entries[place + 1].value
  }

  /// Passes on the members that have a value and are not read elsewhere. If part of an object is read
  /// elsewhere, only the rest is passed on.
  private func forEachMember(of object: JSONView, besides read: Int, _ body: (Text, Value) -> Void) {
    // A path with a similar name, or with the beginning of a name, reads only the first member that matches it.
    var found: Set<Int> = []
    for (name, value) in object.members where !value.isNull {
      var below = 0
      for number in plan.reads[read].members {
        let member = plan.readMembers[number]
        guard member.isMeant(by: name), !member.isBeginning || value.isThere else { continue }
        if member.isBeginning || name != member.name {
          if !member.isBeginning, object[member.name]?.isGiven ?? false { continue }
          guard found.insert(number).inserted else { continue }
        }
        if below == 0 || plan.reads[member.read].isWhole { below = member.read }
      }
      if plan.reads[below].isWhole { continue }
      body(name, value.kind == .object && !value.isParquetList ? .rest(value, below) : .view(value))
    }
  }

  private func add(_ spread: MapPlan.Spread, _ line: JSONView, _ entries: inout [Entry]) {
    guard let source = values.content(of: spread.place) else { return }
    guard let number = spread.pairs else {
      if let others = spread.others {
        let read = values.isLine ? others.ofLine : others.ofElement
        if plan.reads[read].isWhole { return }
        return forEachMember(of: source, besides: read) { add($0, $1, spread, &entries) }
      }
      var members = source.members
      while let (name, value) = members.next() { if !value.isAbsent { add(name, .view(value), spread, &entries) } }
      return
    }
    let (key, value) = plan.pairs[number]
    for pair in source.list.elements.lazy.map(\.item) {
      guard let name = key.value(in: pair, of: line, values.texts), let text = self.text(of: name),
        let value = value.value(in: pair, of: line, values.texts), !value.isAbsent
      else { continue }
      note(name)
      add(text, .view(value), spread, &entries)
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
    switch value {
    case .view(let view) where view.kind == .object && !view.isParquetList:
      for member in view.members where !member.value.isNull {
        addFlat(joined(joined(name, separator), member.key), .view(member.value), separator, &entries)
      }
    case .rest(let view, let read):
      forEachMember(of: view, besides: read) { addFlat(joined(joined(name, separator), $0), $1, separator, &entries) }
    default: entries.append((name, value))
    }
  }

  static func place(of view: JSONView) -> Int { unsafe Int(bitPattern: view.start) }

  @inline(__always)
  private func note(_ view: JSONView) {
    if taken != nil { taken?.insert(Self.place(of: view)) }
  }

  private func write(_ value: Value, _ line: JSONView, _ target: inout CanonicalLines) -> Bool {
    switch value {
    case .view(let view):
      note(view)
      if isOfTexts, let number = view.number {
        target.append(number: digits(of: number))
      } else if view.isParquetList {
        target.append(elements: view.list.elements.lazy.map(\.item))
      } else {
        target.append(view)
      }
    case .text(let text): target.append(string: text)
    case .number(let text): target.append(number: isOfTexts ? digits(of: text) : text)
    case .flag(let flag): target.append(flag)
    case .object(let number): return write(plan.objects[number], into: nil, line, &target)
    case .rest(let view, let read):
      let start = target.beginObject()
      var members: [Entry] = []
      forEachMember(of: view, besides: read) { members.append(($0, $1)) }
      members.sortNearlySorted { $0.name < $1.name }
      for (name, value) in members {
        let before = target.end
        target.append(name: name)
        if !write(value, line, &target) { target.truncate(to: before) }
      }
      return target.endObject(start, isAlwaysThere: false)
    }
    return true
  }

  private func value(of content: MapPlan.Content) -> Value? {
    switch content {
    case .object(let number): return .object(number)
    case .sources(let numbers):
      for number in numbers { if let value = value(of: plan.sources[number]) { return value } }
      return nil
    }
  }

  private func value(of source: MapPlan.Source) -> Value? {
    switch source {
    case .constant(let value): return value.isNull ? nil : .view(value)
    case .value(let place): return values[place].flatMap { $0.isGiven ? .view($0) : nil }
    case .changed(let place, let number):
      guard let view = values[place], view.isGiven else { return nil }
      let change = plan.changes[number]
      guard let written = view.scalarText else {
        if case .table = change.conversion { return nil }
        note(view)
        return .view(view)
      }
      var text = view.kind == .number ? digits(of: written) : written
      if isNobody(text, change.nobody) { return nil }
      if !change.without.isEmpty, text.count > change.without.count, text.starts(with: change.without) {
        text = text.slice(change.without.count, text.count)
        if isNobody(text, change.nobody) { return nil }
      }
      guard let value = converted(text, written, .view(view), change) else { return nil }
      if !change.nobody.texts.isEmpty, let text = self.text(of: value), isNobody(text, change.nobody) { return nil }
      note(view)
      return value
    case .joined(let join, let number):
      let change = plan.changes[number]
      return text(of: plan.joins[join]).flatMap {
        isNobody($0, change.nobody) ? nil : converted($0, $0, .text($0), change)
      }
    case .numbered(let number):
      guard let value = value(of: plan.sources[number]) else { return nil }
      guard !values.isLine, let text = text(of: value) else { return value }
      return .text(copy(Array("\(text)/\(element)".utf8)))
    }
  }

  @inline(__always)
  private func isNobody(_ text: Text, _ nobody: MapPlan.Nobody) -> Bool {
    if nobody.texts.isEmpty { return false }
    if text.isEmpty || text[0] <= UInt8(ascii: " ") && text.trimmed.isEmpty { return true }
    return nobody.lengths & MapPlan.Nobody.length(of: text) != 0 && nobody.texts.contains { plan.nobodies[$0] == text }
  }

  private func text(of value: Value) -> Text? {
    switch value {
    case .view(let view): view.scalarText
    case .text(let text), .number(let text): text
    default: nil
    }
  }

  private func text(of view: JSONView) -> Text? {
    view.kind == .number ? view.number.map { digits(of: $0) } : view.scalarText
  }

  /// Returns an integer in any notation as plain digits; other numbers are returned as written.
  @inline(__always)
  private func digits(of number: Text) -> Text {
    number.isPlainInteger ? number : DecimalText(number)?.integerText.map { copy($0) } ?? number
  }

  /// Returns the joined values of several places; nil if none of them has a value.
  private func text(of join: (places: [MapOutline.Place], separator: Text)) -> Text? {
    join.places.reduce(nil) { before, place in
      guard let view = values[place], view.isGiven, let text = text(of: view) else { return before }
      note(view)
      return before.map { joined(joined($0, join.separator), text) } ?? text
    }
  }

  /// Converts a value; returns nil if a table has no row for it.
  private func converted(_ text: Text, _ written: Text, _ same: Value, _ change: MapPlan.Change) -> Value? {
    switch change.conversion {
    case .none: return .text(prefixed(text, change))
    case .table(let rows, let form):
      var row = plan.names.value(of: cased(text, form), in: rows)
      if row == nil, case .view(let view) = same, view.kind == .number, let key = MapPlan.numberKey(written.description)
      {
        row = Array(key.utf8).withText { plan.names.value(of: $0, in: rows) }
      }
      return row.map { plan.constants[$0] }.flatMap { $0.isNull ? nil : .view($0) }
    case .time(let number):
      // A string in the format of lines is kept. Whether it is a valid time is checked when the line is read.
      if plan.times[number].isWritten(written) { return same }
      let time = plan.times[number]
      let trimmed = written.trimmed
      guard let instant = time.instant(trimmed) ?? time.instant(text.trimmed) else {
        // A number must not be kept, because it would be read as an epoch time.
        var isNumber = false
        if case .view(let view) = same { isNumber = view.kind == .number }
        return isNumber || time.isMisread(trimmed) ? .text(joined("no time: ", written)) : same
      }
      return .text(time.isWritten(trimmed) ? trimmed : self.text(of: instant))
    case .number(let path):
      var number = written.trimmed
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
      return .text(prefixed(text, change))
    }
  }

  private func prefixed(_ text: Text, _ change: MapPlan.Change) -> Text {
    change.prefix.isEmpty ? text : joined(change.prefix, text)
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

  /// Changes the case of the ASCII letters from `first` to `last`.
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
