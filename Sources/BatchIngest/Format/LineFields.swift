public import BatchFoundation

/// The members of one line's object, by field, with the checks on them; null counts as absent (reference decisions 7).
@safe public struct LineFields: ~Copyable {
  public let views: UnsafeMutablePointer<UnsafeRawPointer?>
  @inlinable public static var count: Int { Int(RecordField.recordId.rawValue) + 1 }
  public let names: NameSlots
  public let types: NameSlots
  /// The fields of all types, one type after another; those of a type begin at `starts[type]`.
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

  /// Reads the members of `object`; `unknown` receives the names that the format does not have.
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

  /// Returns the number of the type with this name in `events` inputs; nil if there is none.
  @inlinable @inline(__always)
  public func type(named name: Text) -> UInt8? { types[name] }

  public func field(named name: Text) -> RecordField? { names[name].flatMap { RecordField(rawValue: $0) } }

  // MARK: - Checks

  @inlinable @inline(__always)
  public func check(type: UInt8, _ faults: inout FieldFaults) {
    for index in unsafe starts[Int(type)]..<starts[Int(type) + 1] { unsafe check(uses[index], &faults) }
  }

  /// Checks one field. If `use` is constant at the call, only the check for its kind is compiled in.
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

  /// Returns the string of a field that is checked elsewhere; nil if it is absent or not a string.
  @inlinable @inline(__always)
  public func text(_ field: RecordField) -> Text? { self[field]?.string }

  /// Returns the string of a field; nil also for an empty string, which replaces no earlier value.
  @inlinable @inline(__always)
  public func nonEmpty(_ field: RecordField) -> Text? { text(field).flatMap { $0.isEmpty ? nil : $0 } }

  /// Returns the string of a checked field, or its integer as written; nil if it is absent.
  public func code(_ field: RecordField) -> Text? { self[field].flatMap { $0.number ?? $0.string } }

  /// Returns an optional id; nil also for a placeholder that identifies nobody, which is recorded as `note`.
  public mutating func id(_ field: RecordField, _ note: RecordNotes, _ faults: inout FieldFaults) -> Text? {
    guard let text = optional(field, &faults) else { return nil }
    guard text.namesNobody else { return text }
    notes.insert(note)
    return nil
  }

  /// Checks that a field is a string and returns it; nil also for an empty string, which replaces no earlier value.
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

extension LineFields {
  /// Returns the device that the line names; empty if the field is faulty.
  @inlinable @inline(__always)
  public func device(_ faults: inout FieldFaults) -> Text {
    check(.filled(.deviceId), &faults)
    return text(.deviceId) ?? .empty
  }

  /// - Parameter spelling: parses a string.
  /// - Returns: the time in the field; the beginning of 1970 if the field is faulty.
  @inlinable
  public func time(
    _ field: RecordField, _ faults: inout FieldFaults, spelling: (Text) -> Instant? = { Instant(exportText: $0) }
  ) -> Instant {
    let instant: Instant?
    switch self[field]?.kind {
    case .string: instant = text(field).flatMap(spelling)
    case .number: instant = self[field]?.number.flatMap { Instant(epoch: $0) }
    case nil:
      faults.missing(field.name)
      return Instant(milliseconds: 0)
    default:
      faults.wrong(field.name)
      return Instant(milliseconds: 0)
    }
    if instant == nil { faults.badTimestamp(field.name) }
    return instant ?? Instant(milliseconds: 0)
  }

  /// Whether the line is an event as a phone stored it for Engage.
  @inlinable public var areOfRawEvent: Bool {
    self[.type] == nil && self[.eventTypeCode] != nil && self[.attributes] != nil
  }

  /// Returns the device (in the last `Device Id` attribute) and the time of a raw event (reference formats 3.6).
  public func rawEvent(_ faults: inout FieldFaults) -> (device: Text, timestamp: Instant) {
    check(.required(.eventTypeCode), &faults)
    let oldName = self[.eventTimestamp] == nil && self[.eventTimeStamp] != nil
    let timestamp = time(oldName ? .eventTimeStamp : .eventTimestamp, &faults)
    check(.required(.attributes), &faults)
    guard let attributes = self[.attributes], attributes.kind == .array else { return (.empty, timestamp) }
    var device: JSONView?
    for (number, attribute) in attributes.elements.enumerated() {
      func place(_ member: Text = .empty) -> FieldPlace { FieldPlace("attributes", .empty, number, member) }
      guard attribute.kind == .object else {
        faults.wrong(place())
        continue
      }
      guard let given = attribute["name"], !given.isNull else {
        faults.missing(place("name"))
        continue
      }
      guard let name = given.string else {
        faults.wrong(place("name"))
        continue
      }
      if name == "Device Id" { device = attribute["value"] }
    }
    if let device, !device.isNull, device.string == nil { faults.wrong("Device Id") }
    let text = device?.string ?? .empty
    if device?.isNull != false || device?.kind == .string && text.isEmpty { faults.missing("Device Id") }
    return (text, timestamp)
  }

  /// Reads a line of a `notifications` input: `action` and `channel` take the place of the type
  /// (reference decisions 10). Their faults do not hide a missing payload (reference decisions 29).
  public func notification(
    _ faults: inout FieldFaults
  ) -> (isOpened: Bool, isLocal: Bool, body: JSONView?) {
    check(.required(.action), &faults)
    let isOpened = text(.action) == "opened"
    if let action = text(.action), !isOpened, action != "received" { faults.unknown("action") }
    check(.optional(.channel), &faults)
    let isLocal = text(.channel) == "local"
    if let channel = text(.channel), !isLocal, channel != "push" { faults.unknown("channel") }
    let body: RecordField =
      isLocal && self[.payload] == nil && self[.notification] != nil ? .notification : .payload
    check(.required(body), &faults)
    return (isOpened, isLocal, self[body])
  }
}

/// A small table of names with numbers below 255, consulted for each member of a line. A hit costs one comparison, and
/// a miss usually none.
@safe public struct NameSlots: ~Copyable {
  /// The names, indexed by number.
  public let names: UnsafeMutablePointer<Text>
  public let slots: UnsafeMutablePointer<UInt8>
  @inlinable public static var size: Int { 512 }
  @inlinable public static var free: UInt8 { .max }

  /// - Parameter names: must live as long as the slots.
  init(_ names: [(name: Text, number: UInt8)]) {
    let count = Int(names.map(\.number).max() ?? 0) + 1
    unsafe self.names = .allocate(capacity: count)
    unsafe self.names.initialize(repeating: .empty, count: count)
    unsafe slots = .allocate(capacity: Self.size)
    unsafe slots.initialize(repeating: Self.free, count: Self.size)
    for (name, number) in names {
      var slot = Self.slot(of: name)
      while unsafe slots[slot] != Self.free { slot = (slot + 1) & (Self.size - 1) }
      unsafe self.names[Int(number)] = name
      unsafe slots[slot] = number
    }
  }

  deinit {
    unsafe names.deallocate()
    unsafe slots.deallocate()
  }

  /// Returns the first slot to try: the length and both end bytes distinguish nearly all names of fields and types.
  @inlinable @inline(__always)
  public static func slot(of name: Text) -> Int {
    guard name.count > 0 else { return 0 }
    return (name.count &* 37 &+ Int(name[0]) &* 5 &+ Int(name[name.count - 1]) &* 67) & (size - 1)
  }

  @inlinable @inline(__always)
  public subscript(name: Text) -> UInt8? {
    var slot = Self.slot(of: name)
    while true {
      let number = unsafe slots[slot]
      if number == Self.free { return nil }
      if unsafe names[Int(number)] == name { return number }
      slot = (slot + 1) & (Self.size - 1)
    }
  }
}

/// The number of records with each field that the format does not have, for the report.
///
/// Exporters use few names, but hostile input can use a new one per line. Therefore only the first `limit` names in
/// byte order are kept, regardless of the order of reading, and names are truncated to `longestName` bytes.
public struct UnknownFields {
  static let limit = 1000
  static let longestName = 200

  private(set) var counts: [[UInt8]: Int] = [:]
  /// The number of unknown names in all records together, including those beyond the limit.
  private(set) var noted = 0
  /// The names of the current line, counted only if it becomes a record.
  @usableFromInline var pending: [Text] = []
  private var greatest: [UInt8]?

  package init() {}

  /// Records a name of the current line.
  @inlinable public mutating func note(_ name: Text) { pending.append(name) }

  /// Discards the names noted for the previous line.
  @inline(__always)
  package mutating func drop() {
    if !pending.isEmpty { pending.removeAll(keepingCapacity: true) }
  }

  /// Counts the names of the line; they are distinct, because a line with a repeated key is not a record.
  package mutating func commit() {
    guard !pending.isEmpty else { return }
    noted += pending.count
    for name in pending { unsafe add(Array(name.bytes.prefix(Self.longestName)), 1) }
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func add(_ name: [UInt8], _ count: Int) {
    if let known = counts[name] {
      counts[name] = known + count
      return
    }
    if let greatest, !name.lexicographicallyPrecedes(greatest) { return }
    counts[name] = count
    guard counts.count > Self.limit else { return }
    if let last = counts.keys.max(by: { $0.lexicographicallyPrecedes($1) }) { counts[last] = nil }
    greatest = counts.keys.max { $0.lexicographicallyPrecedes($1) }
  }

  mutating func merge(_ other: UnknownFields) {
    for (name, count) in other.counts { add(name, count) }
  }

  /// The fields, with the number of records that have each, sorted by the bytes of their names.
  var sorted: [UnknownField] {
    counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { UnknownField(name: String(decoding: $0.key, as: UTF8.self), records: $0.value) }
  }
}
