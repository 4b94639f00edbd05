public import BatchFoundation

/// The members of one line's object by field, with their checks; null counts as absent (reference decisions 7).
@safe public struct RecordFields: ~Copyable {
  public let views: UnsafeMutablePointer<UnsafeRawPointer?>
  @inlinable public static var count: Int { Int(RecordField.recordId.rawValue) + 1 }
  public let names: NameSlots
  public let types: NameSlots
  /// The fields of all types, one type after another; those of a type begin at its number in `starts`.
  public let uses: UnsafeMutablePointer<FieldUse>
  public let starts: UnsafeMutablePointer<Int>
  /// The notes on the ids of the current line.
  public var notes: RecordNotes = []

  public init<Shape: RecordShape>(_ shape: Shape.Type) {
    unsafe views = .allocate(capacity: Self.count)
    unsafe views.initialize(repeating: nil, count: Self.count)
    names = NameSlots(Shape.allFields.sorted { $0.rawValue < $1.rawValue }.map { ($0.name, $0.rawValue) })
    types = NameSlots(Shape.allCases.filter(\.isExported).map { (Text(permanent: "\($0)"), $0.rawValue) })
    var fields: [[FieldUse]] = Array(repeating: [], count: Int((Shape.allCases.map(\.rawValue).max() ?? 0) + 1))
    for type in Shape.allCases { fields[Int(type.rawValue)] = type.fields }
    unsafe uses = .allocate(capacity: fields.joined().count)
    unsafe starts = .allocate(capacity: fields.count + 1)
    var next = 0
    for (type, fields) in fields.enumerated() {
      unsafe starts[type] = next
      for use in fields {
        unsafe (uses + next).initialize(to: use)
        next += 1
      }
    }
    unsafe starts[fields.count] = next
  }

  deinit {
    unsafe views.deallocate()
    unsafe uses.deallocate()
    unsafe starts.deallocate()
  }

  /// Reads the members of `object`; `unknown` gets the names that are not in the format.
  @inlinable @inline(__always)
  public mutating func read(_ object: JSONView, unknown: inout UnknownFields) {
    unsafe views.update(repeating: nil, count: Self.count)
    notes = []
    var members = object.members
    while let (key, value) = members.next() {
      if let field = names[key] {
        unsafe views[Int(field)] = value.isNull ? nil : value.start
      } else {
        unknown.note(key)
      }
    }
  }

  @inlinable public subscript(field: RecordField) -> JSONView? {
    @inline(__always) get { unsafe views[Int(field.rawValue)].map { unsafe JSONView(at: $0) } }
  }

  /// Returns the number of the type that `events` inputs call by this name.
  @inlinable @inline(__always)
  public func type(named name: Text) -> UInt8? { types[name] }

  public func field(named name: Text) -> RecordField? { names[name].flatMap { RecordField(rawValue: $0) } }

  // MARK: - Checks

  @inlinable @inline(__always)
  public func check(type: UInt8, _ faults: inout FieldFaults) {
    for index in unsafe starts[Int(type)]..<starts[Int(type) + 1] { unsafe check(uses[index], &faults) }
  }

  /// Checks one field. If the use is a constant at the call, only the check that it needs is compiled in.
  @inlinable @inline(__always)
  public func check(_ use: FieldUse, _ faults: inout FieldFaults) {
    guard let value = self[use.field] else {
      if use.isRequired { faults.missing(use.field.name) }
      return
    }
    switch use.field.kind {
    case .text:
      guard let text = value.string else { return faults.wrong(use.field.name) }
      if use.isFilled, text.isEmpty { faults.missing(use.field.name) }
    case .object: if value.kind != .object { faults.wrong(use.field.name) }
    default: checkRare(value, use, &faults)
    }
  }

  public func checkRare(_ value: JSONView, _ use: FieldUse, _ faults: inout FieldFaults) {
    switch use.field.kind {
    case .text, .object, .time, .anything: break
    case .array: if value.kind != .array { faults.wrong(use.field.name) }
    case .number: if value.number?.double == nil { faults.wrong(use.field.name) }
    case .boolean: if value.bool == nil { faults.wrong(use.field.name) }
    case .code:
      if let number = value.number, number.isIntegerLiteral { return }
      guard let text = value.string else { return faults.wrong(use.field.name) }
      if text.isEmpty { faults.missing(use.field.name) }
    case .columns:
      guard value.kind == .object else { return faults.wrong(use.field.name) }
      for (_, value) in value.members where value.kind == .array || value.kind == .object {
        faults.wrong(use.field.name)
      }
    }
  }

  /// Returns the text of a field checked before or later; nil if absent.
  @inlinable @inline(__always)
  public func text(_ field: RecordField) -> Text? { self[field]?.string }

  /// Returns the text of a field; nil also for an empty one, which replaces nothing.
  @inlinable @inline(__always)
  public func nonEmpty(_ field: RecordField) -> Text? { text(field).flatMap { $0.isEmpty ? nil : $0 } }

  /// Returns the text of a checked field; an integer as written.
  public func code(_ field: RecordField) -> Text? { self[field].flatMap { $0.number ?? $0.string } }

  /// Returns an optional id; nil also for a placeholder that identifies nobody, which is noted.
  public mutating func id(_ field: RecordField, _ note: RecordNotes, _ faults: inout FieldFaults) -> Text? {
    guard let text = optional(field, &faults) else { return nil }
    guard text.namesNobody else { return text }
    notes.insert(note)
    return nil
  }

  /// Returns the text of a field, checking its kind; nil also for an empty one, which replaces nothing.
  @inlinable @inline(__always)
  public func optional(_ field: RecordField, _ faults: inout FieldFaults) -> Text? {
    guard let value = self[field] else { return nil }
    guard let text = value.string else {
      faults.wrong(field.name)
      return nil
    }
    return text.isEmpty ? nil : text
  }
}
