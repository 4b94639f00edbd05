/// A device state that is damaged or in a format unknown to this version.
public struct DeviceStateError: RunError, Equatable, CustomStringConvertible {
  /// The unknown format; nil for damage.
  public var version: UInt8?

  public init(version: UInt8? = nil) { self.version = version }

  public var exit: RunExit { .configuration }

  public var description: String {
    version.map {
      "error: this version of engage-batch cannot read device state in format \($0); use the version that wrote it"
    } ?? "error: a device state is damaged; restore the store from a backup"
  }
}

/// Encodes a device's state: integers as zigzag varints, texts with a length prefix.
public struct StateWriter: ~Copyable {
  private var buffer: ByteBuffer

  /// - Parameter capacity: the initial size in bytes, enough for most states.
  public init(capacity: Int = 256) { buffer = ByteBuffer(capacity: capacity) }

  public var bytes: [UInt8] { buffer.array }

  /// Passes the encoded bytes to `body`; they are valid only during the call.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body(UnsafeRawBufferPointer(buffer.bytes))
  }

  public mutating func put(_ byte: UInt8) { buffer.append(byte) }

  public mutating func put(_ value: Int64) { buffer.append(varint: UInt64(bitPattern: value << 1 ^ value >> 63)) }

  /// Appends raw bytes without their count.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    for byte in bytes { buffer.append(byte) }
  }

  public mutating func put(_ instant: Instant) { put(instant.milliseconds) }

  /// Writes the time, kind and place of a device's last record; a nil instant means that there is none.
  public mutating func put(lastRecord instant: Instant?, _ kind: InputKind, _ source: StoredSource) {
    put(instant == nil ? 0 : 1 + kind.rawValue)
    guard let instant else { return }
    put(instant)
    put(source)
  }

  public mutating func put(_ source: StoredSource) {
    put(Int64(source.file))
    put(Int64(bitPattern: source.line))
  }

  public mutating func put(_ value: Double) { put(Int64(bitPattern: value.bitPattern)) }

  public mutating func put(word: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) { put(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
  }

  public mutating func put(_ text: Text) {
    put(Int64(text.count))
    buffer.append(text)
  }

  public mutating func put(_ text: Text?) {
    put(UInt8(text == nil ? 0 : 1))
    if let text { put(text) }
  }
}

extension StateWriter {
  /// Returns a text as it appears in encoded states, so that states can be searched for an id.
  public static func encoded(_ text: [UInt8]) -> [UInt8] {
    var writer = StateWriter()
    writer.put(Int64(text.count))
    return writer.bytes + text
  }
}

/// Decodes the output of ``StateWriter``. Numbers are checked before use: functions throw ``DeviceStateError`` for
/// damaged bytes.
@safe public struct StateReader {
  private var at: UnsafeRawPointer
  private let end: UnsafeRawPointer

  /// - Parameter bytes: memory that must outlive the decoded texts.
  public init(_ bytes: UnsafeRawBufferPointer) {
    let start = unsafe bytes.baseAddress ?? UnsafeRawPointer(Text.empty.base)
    unsafe at = start
    unsafe end = start + bytes.count
  }

  public var isAtEnd: Bool { unsafe at == end }

  public var rest: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: at, count: end - at) }

  public mutating func byte() throws(DeviceStateError) -> UInt8 {
    guard unsafe at < end else { throw DeviceStateError() }
    defer { unsafe at += 1 }
    return unsafe at.load(as: UInt8.self)
  }

  public mutating func integer() throws(DeviceStateError) -> Int64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      guard shift < 64 else { throw DeviceStateError() }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
      shift += 7
    }
  }

  /// Reads eight bytes, big-endian.
  public mutating func word() throws(DeviceStateError) -> UInt64 {
    guard unsafe end - at >= 8 else { throw DeviceStateError() }
    defer { unsafe at += 8 }
    return unsafe UInt64(bigEndian: at.loadUnaligned(as: UInt64.self))
  }

  /// Reads a count of elements of at least `size` bytes each, checked against the remaining bytes.
  public mutating func count(ofBytes size: Int = 1) throws(DeviceStateError) -> Int {
    let value = try integer()
    guard value >= 0, unsafe value <= (end - at) / size else { throw DeviceStateError() }
    return Int(value)
  }

  /// The maximum magnitude in milliseconds, far greater than any instant or span that the rules use.
  private static let farthest: Int64 = 1 << 52

  /// Reads an emission number from 0 to ``EmissionNumber/limit``.
  public mutating func emission() throws(DeviceStateError) -> Int64 {
    let value = try integer()
    guard 0...EmissionNumber.limit ~= value else { throw DeviceStateError() }
    return value
  }

  /// Reads milliseconds, limited so that sums of a few values cannot overflow.
  public mutating func milliseconds() throws(DeviceStateError) -> Int64 {
    let value = try integer()
    guard -Self.farthest...Self.farthest ~= value else { throw DeviceStateError() }
    return value
  }

  public mutating func instant() throws(DeviceStateError) -> Instant { Instant(milliseconds: try milliseconds()) }

  /// Reads the time, kind and place of the device's last record; nil if the device has no records.
  public mutating func lastRecord() throws(DeviceStateError) -> (instant: Instant, kind: InputKind, StoredSource)? {
    let byte = try byte()
    guard byte > 0 else { return nil }
    guard let kind = InputKind(rawValue: byte - 1) else { throw DeviceStateError() }
    return (try instant(), kind, try source())
  }

  public mutating func source() throws(DeviceStateError) -> StoredSource {
    guard let file = UInt32(exactly: try integer()) else { throw DeviceStateError() }
    return StoredSource(file: file, line: UInt64(bitPattern: try integer()))
  }

  /// Reads a finite number.
  public mutating func double() throws(DeviceStateError) -> Double {
    let value = Double(bitPattern: UInt64(bitPattern: try integer()))
    guard value.isFinite else { throw DeviceStateError() }
    return value
  }

  public mutating func text() throws(DeviceStateError) -> Text {
    let count = try count()
    defer { unsafe at += count }
    return unsafe Text(base: at.assumingMemoryBound(to: UInt8.self), count: count)
  }

  public mutating func optionalText() throws(DeviceStateError) -> Text? { try byte() == 1 ? try text() : nil }
}
