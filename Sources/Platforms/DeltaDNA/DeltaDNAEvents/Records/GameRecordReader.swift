import BatchFoundation
import BatchIngest

/// Reads the objects of lines as records of a deltaDNA job (reference deltadna 2); keeps its working memory from line to line.
struct GameRecordReader: ~Copyable {
  var fields = GameFields()
  /// Of the line at hand; means nothing if it has faults.
  var record = GameRecord()
  /// Where ``GameRecord/own`` is written.
  var own = ScratchMemory()
  var keys = RecordKeysAhead()

  /// Takes the object as the record at hand.
  ///
  /// - Parameter unknown: gets the names of fields that the format does not know.
  mutating func read(_ object: JSONView, of line: SourceLine, unknown: (Text) -> Void) -> FieldFaults {
    fields.read(object, unknown: unknown)
    record = GameRecord()
    record.kind = line.kind
    record.position = line.position
    record.key = keys.key(of: line)
    var faults = FieldFaults()
    if line.kind == .events, fields[.type] == nil {
      if fields[.eventName] != nil, fields[.eventParams] != nil {
        for (name, _) in object.members {
          if let field = fields.field(name), !field.isOfStoredEvent { unknown(name) }
        }
        readStoredEvent(&faults)
        return faults
      }
      if fields[.eventTypeCode] != nil, fields[.attributes] != nil {
        readRawUBF(&faults)
        return faults
      }
    }
    readCommonFields(&faults)
    switch line.kind {
    case .events:
      guard let name = required(.type, &faults) else { break }
      guard let type = GameRecordType(exportName: name) else {
        faults.unknown("type")
        break
      }
      record.type = type
      readFields(of: type, object, &faults)
    case .notifications: readNotification(&faults)
    case .deepLinks:
      record.type = .deepLink
      readFields(of: .deepLink, object, &faults)
    }
    return faults
  }

  /// Takes a plain line of a `deepLinks` input as the record at hand.
  mutating func read(_ link: PlainLink, of line: SourceLine) {
    record = GameRecord()
    record.device = link.device
    record.timestamp = link.timestamp
    record.type = .deepLink
    record.kind = line.kind
    record.position = line.position
    record.key = keys.key(of: line)
    var writer = unsafe ViewWriter(at: own.reserve(link.url.count + 32))
    let object = unsafe writer.begin(.object)
    writer.key("url")
    writer.string(link.url)
    unsafe writer.end(object)
    record.own = unsafe JSONView(at: own.start)
  }

  // MARK: - Fields of all records

  private mutating func readCommonFields(_ faults: inout FieldFaults) {
    if let device = text(.deviceId, &faults) {
      if device.isEmpty { faults.missing("deviceId") }
      record.device = device
    } else if fields[.deviceId] == nil {
      faults.missing("deviceId")
    }
    readTimestamp(&faults)
    if let params = fields[.params] {
      if params.kind != .object { faults.wrong("params") }
      record.params = params
    }
    readDevice(&faults)
    record.userID = nonEmpty(text(.mobileUserId, &faults))
    _ = text(.anonymousId, &faults)
    _ = text(.recipientId, &faults)
  }

  private mutating func readTimestamp(_ faults: inout FieldFaults) {
    guard let value = fields[.timestamp] else { return faults.missing("timestamp") }
    let instant: Instant?
    switch value.kind {
    case .string: instant = value.string.flatMap { Instant(exportText: $0) }
    case .number: instant = value.number.flatMap { Instant(epoch: $0) }
    default: return faults.wrong("timestamp")
    }
    guard let instant else { return faults.badTimestamp("timestamp") }
    record.timestamp = instant
  }

  private mutating func readDevice(_ faults: inout FieldFaults) {
    guard let device = fields[.device] else { return }
    guard device.kind == .object else { return faults.wrong("device") }
    var members = device.members
    while let (key, value) = members.next() {
      let slot = DeviceSlot(key)
      guard slot != nil || key == "appName", !value.isNull else { continue }
      guard let text = value.string else {
        faults.wrong("device")
        continue
      }
      if let slot { record.block[slot] = text }
    }
  }

  // MARK: - Kinds of fields

  @inline(__always)
  func text(_ field: GameField, _ faults: inout FieldFaults) -> Text? {
    guard let value = fields[field] else { return nil }
    guard let text = value.string else {
      faults.wrong(field.name)
      return nil
    }
    return text
  }

  /// A text that has to be there, but may be empty.
  @inline(__always)
  func required(_ field: GameField, _ faults: inout FieldFaults) -> Text? {
    guard fields[field] != nil else {
      faults.missing(field.name)
      return nil
    }
    return text(field, &faults)
  }

  /// A text that has to be there and is not empty.
  @inline(__always)
  func filled(_ field: GameField, _ faults: inout FieldFaults) -> Text? {
    let text = required(field, &faults)
    if let text, text.isEmpty { faults.missing(field.name) }
    return text
  }

  /// A text that may be absent, but not empty.
  @inline(__always)
  func optional(_ field: GameField, _ faults: inout FieldFaults) -> Text? {
    fields[field] == nil ? nil : filled(field, &faults)
  }

  @inline(__always)
  func object(_ field: GameField, _ faults: inout FieldFaults) -> JSONView? {
    guard let value = fields[field] else {
      faults.missing(field.name)
      return nil
    }
    guard value.kind == .object else {
      faults.wrong(field.name)
      return nil
    }
    return value
  }

  func boolean(_ field: GameField, _ faults: inout FieldFaults) -> Bool? {
    guard let value = fields[field] else { return nil }
    if value.bool == nil { faults.wrong(field.name) }
    return value.bool
  }

  @inline(__always)
  func nonEmpty(_ text: Text?) -> Text? { text.flatMap { $0.isEmpty ? nil : $0 } }
}

/// One piece of memory that grows and is used anew for every line.
@safe struct ScratchMemory: ~Copyable {
  private(set) var start: UnsafeMutableRawPointer
  private var capacity = 4096
  /// More than this is given back with the next line.
  private static let ordinary = 1 << 20

  init() { unsafe start = .allocate(byteCount: capacity, alignment: 16) }

  deinit { unsafe start.deallocate() }

  /// Room for so many bytes; what was there is lost.
  mutating func reserve(_ byteCount: Int) -> UnsafeMutableRawPointer {
    if byteCount > capacity || capacity > Self.ordinary, byteCount <= Self.ordinary {
      unsafe start.deallocate()
      capacity = max(byteCount, 4096)
      unsafe start = .allocate(byteCount: capacity, alignment: 16)
    }
    return unsafe start
  }
}

extension GameRecordType {
  /// The type by the name that `events` inputs use.
  @inline(__always)
  init?(exportName name: Text) {
    // Most records are of these.
    if name == Self.gameEvent.name {
      self = .gameEvent
      return
    }
    for type in Self.exported where type.name == name {
      self = type
      return
    }
    return nil
  }

  /// All that have a `type` in exports.
  static let exported = allCases.filter { $0 != .storedEvent && $0 != .rawUBF }
}
