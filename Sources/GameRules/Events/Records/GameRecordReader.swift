import BatchFoundation
import BatchIngest

/// Reads lines as records for a game's job (reference deltadna 2); reuses its working memory from line to line.
struct GameRecordReader: ~Copyable {
  var fields = LineFields(GameRecordType.self)
  /// The record from the current line; meaningless if the line has faults.
  var record = GameRecord()
  /// The memory of ``GameRecord/own``.
  var own = ScratchMemory()
  var keys = RecordKeysAhead()

  /// Reads the object as the current record; returns its faults.
  ///
  /// - Parameter unknown: receives the names of fields that the format does not have.
  mutating func read(_ object: JSONView, of line: SourceLine, unknown: inout UnknownFields) -> FieldFaults {
    fields.read(object, unknown: &unknown)
    begin(line)
    var faults = FieldFaults()
    if line.kind == .events, fields[.type] == nil {
      if fields[.eventName] != nil, fields[.eventParams] != nil {
        for (name, _) in object.members {
          if let field = fields.field(named: name), !Self.areOfStoredEvent[Int(field.rawValue)] { unknown.note(name) }
        }
        readStoredEvent(&faults)
        return faults
      }
      if fields.areOfRawEvent {
        record.type = .rawUBF
        (record.device, record.timestamp) = fields.rawEvent(&faults)
        return faults
      }
    }
    readCommonFields(&faults)
    switch line.kind {
    case .events:
      fields.check(.required(.type), &faults)
      guard let name = fields.text(.type) else { break }
      guard let type = fields.type(named: name).flatMap({ GameRecordType(rawValue: $0) }) else {
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

  /// Reads a plain line of a `deepLinks` input as the current record.
  mutating func read(_ link: PlainLink, of line: SourceLine) {
    begin(line)
    record.device = link.device
    record.timestamp = link.timestamp
    record.type = .deepLink
    write("url", link.url)
  }

  private mutating func begin(_ line: SourceLine) {
    record = GameRecord()
    record.kind = line.kind
    record.position = line.position
    record.key = keys.key(of: line)
  }

  // MARK: - Fields of all records

  private mutating func readCommonFields(_ faults: inout FieldFaults) {
    record.device = fields.device(&faults)
    record.timestamp = fields.time(.timestamp, &faults)
    fields.check(.optional(.params), &faults)
    record.params = fields[.params]
    readDevice(&faults)
    record.userID = fields.id(.mobileUserId, .mobileUserId, &faults)
    _ = fields.id(.anonymousId, .anonymousId, &faults)
    _ = fields.id(.recipientId, .recipientId, &faults)
  }

  private mutating func readDevice(_ faults: inout FieldFaults) {
    guard let device = fields[.device] else { return }
    guard device.kind == .object else { return faults.wrong("device") }
    var members = device.members
    while let (key, value) = members.next() {
      let slot = DeviceSlot(key)
      guard slot != nil || key == "appName", !value.isNull else { continue }
      guard let text = value.string else {
        faults.wrong(FieldPlace("device", key))
        continue
      }
      if let slot { record.block[slot] = text }
    }
  }

  /// Whether a stored event may have a field, by the field's raw value; other fields count as unknown there.
  private static let areOfStoredEvent = RecordField.allCases.map { field in
    GameRecordType.storedEvent.fields.contains { $0.field == field }
  }
}

/// A growing buffer that every line reuses.
@safe struct ScratchMemory: ~Copyable {
  private(set) var start: UnsafeMutableRawPointer
  private var capacity = 4096
  /// A buffer larger than this is released as soon as a line needs no more than this.
  private static let ordinary = 1 << 20

  init() { unsafe start = .allocate(byteCount: capacity, alignment: 16) }

  deinit { unsafe start.deallocate() }

  /// Returns memory of at least `byteCount` bytes; earlier contents are lost.
  mutating func reserve(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let isKeptFromLongLine = capacity > Self.ordinary && byteCount <= Self.ordinary
    if byteCount > capacity || isKeptFromLongLine {
      unsafe start.deallocate()
      capacity = max(byteCount, 4096)
      unsafe start = .allocate(byteCount: capacity, alignment: 16)
    }
    return unsafe start
  }
}

/// Computes the keys for several upcoming lines at once, which takes a quarter of the time.
@safe struct RecordKeysAhead: ~Copyable {
  /// Nil if the processor cannot hash several lines at once faster than one by one.
  private let lanes = SHA1Lanes.widths.first.map(SHA1Lanes.init)
  /// The bytes that are hashed before a line to derive its key, by kind of line (reference deltadna 5).
  private let starts: [[UInt8]]
  private var lines: [Text] = []
  private var next = 0

  init() {
    let namespace = NameUUID.deltaDNA
    let bytes = unsafe withUnsafeBytes(of: (namespace.high.bigEndian, namespace.low.bigEndian), Array.init)
    starts = InputKind.allCases.map { unsafe bytes + NameUUID.start(of: $0).bytes }
  }

  /// Hashes the first lines, one per lane; skips those too long for a lane.
  mutating func prepare(_ coming: [BlockLine]) {
    guard let lanes else { return }
    lines.removeAll(keepingCapacity: true)
    next = 0
    lanes.reset()
    for line in coming.prefix(SHA1Lanes.count) {
      let text = line.text
      let isIn = unsafe starts[Int(line.kind.rawValue)].withUnsafeBytes {
        unsafe lanes.add($0, UnsafeRawBufferPointer(text.bytes))
      }
      if isIn { lines.append(text) }
    }
    lanes.hash()
  }

  /// Returns the key of the line, even if ``prepare(_:)`` did not hash it.
  mutating func key(of line: SourceLine) -> NameUUID {
    while next < lines.count {
      defer { next += 1 }
      if unsafe lines[next].base == line.text.base, let (high, low) = lanes?.leadingWords(next) {
        return NameUUID(hashed: high, low)
      }
    }
    return NameUUID(line: line.text, kind: line.kind)
  }
}
