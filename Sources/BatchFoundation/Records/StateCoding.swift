/// A device state that was written by a version of this program that this one does not know, or that is damaged.
package struct DeviceStateError: RunError, Equatable, CustomStringConvertible {
  /// The format that is not known; nil for damage.
  package var version: UInt8?

  package init(version: UInt8? = nil) { self.version = version }

  package var exit: RunExit { .configuration }

  package var description: String {
    version.map {
      "device state of format \($0) is not known to this version of engage-batch; use the version that wrote it"
    } ?? "device state is damaged; restore the store from a backup"
  }
}

/// Writes the parts of a device's state: integers as variable-length zigzag, texts with their length.
package struct StateWriter {
  package var bytes: [UInt8] = []

  package init() {
    // Few states need more.
    bytes.reserveCapacity(256)
  }

  package mutating func put(_ byte: UInt8) { bytes.append(byte) }

  package mutating func put(_ value: Int64) {
    var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  package mutating func put(_ instant: Instant) { put(instant.milliseconds) }

  package mutating func put(_ value: Double) { put(Int64(bitPattern: value.bitPattern)) }

  package mutating func put(word: UInt64) {
    unsafe withUnsafeBytes(of: word.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func put(_ text: Text) {
    put(Int64(text.count))
    unsafe bytes.append(contentsOf: text.bytes)
  }

  package mutating func put(_ text: Text?) {
    put(UInt8(text == nil ? 0 : 1))
    if let text { put(text) }
  }
}

extension StateWriter {
  /// A text as encoded states have it, so that a state can be searched for an id.
  package static func encoded(_ text: [UInt8]) -> [UInt8] {
    var writer = StateWriter()
    writer.put(Int64(text.count))
    return writer.bytes + text
  }
}

/// Reads what ``StateWriter`` wrote; every number is checked before it is used, so damaged bytes end as an error.
@safe package struct StateReader {
  private var at: UnsafeRawPointer
  private let end: UnsafeRawPointer

  /// - Parameter bytes: memory that outlives the texts that are read.
  package init(_ bytes: UnsafeRawBufferPointer) {
    let start = unsafe bytes.baseAddress ?? UnsafeRawPointer(Text.empty.base)
    unsafe at = start
    unsafe end = start + bytes.count
  }

  package var isAtEnd: Bool { unsafe at == end }

  /// What is left.
  package var rest: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: at, count: end - at) }

  package mutating func byte() throws(DeviceStateError) -> UInt8 {
    guard unsafe at < end else { throw DeviceStateError() }
    defer { unsafe at += 1 }
    return unsafe at.load(as: UInt8.self)
  }

  package mutating func integer() throws(DeviceStateError) -> Int64 {
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

  package mutating func word() throws(DeviceStateError) -> UInt64 {
    guard unsafe end - at >= 8 else { throw DeviceStateError() }
    defer { unsafe at += 8 }
    return unsafe UInt64(bigEndian: at.loadUnaligned(as: UInt64.self))
  }

  /// A number of things, each of which takes at least so many bytes.
  package mutating func count(ofBytes size: Int = 1) throws(DeviceStateError) -> Int {
    let value = try integer()
    guard value >= 0, unsafe value <= (end - at) / size else { throw DeviceStateError() }
    return Int(value)
  }

  /// In milliseconds, far beyond every instant and span that the rules know.
  private static let farthest: Int64 = 1 << 52

  package mutating func emission() throws(DeviceStateError) -> Int64 {
    let value = try integer()
    guard 0...Self.farthest ~= value else { throw DeviceStateError() }
    return value
  }

  /// A number of milliseconds that sums of a few such numbers cannot carry out of range.
  package mutating func milliseconds() throws(DeviceStateError) -> Int64 {
    let value = try integer()
    guard -Self.farthest...Self.farthest ~= value else { throw DeviceStateError() }
    return value
  }

  package mutating func instant() throws(DeviceStateError) -> Instant { Instant(milliseconds: try milliseconds()) }

  package mutating func double() throws(DeviceStateError) -> Double {
    let value = Double(bitPattern: UInt64(bitPattern: try integer()))
    guard value.isFinite else { throw DeviceStateError() }
    return value
  }

  package mutating func text() throws(DeviceStateError) -> Text {
    let count = try count()
    defer { unsafe at += count }
    return unsafe Text(base: at.assumingMemoryBound(to: UInt8.self), count: count)
  }

  package mutating func optionalText() throws(DeviceStateError) -> Text? { try byte() == 1 ? try text() : nil }
}
