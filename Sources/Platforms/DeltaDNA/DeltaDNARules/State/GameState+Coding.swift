package import BatchFoundation
import DeltaDNACampaigns
import DeltaDNAEvents

/// A device state that was written by a version of this program that this one does not know, or that is damaged.
package struct GameStateError: RunError, Equatable, CustomStringConvertible {
  package var version: UInt8?

  package var exit: RunExit { .configuration }

  package var description: String {
    version.map {
      "device state of format \($0) is not known to this version of engage-batch; use the version that wrote it"
    } ?? "device state is damaged; restore the store from a backup"
  }
}

extension GameState {
  /// First byte of every encoded state. A new field gets a new number; older numbers stay readable.
  package static let format: UInt8 = 1

  /// The state as bytes for the store; deterministic, so that equal states are equal bytes.
  package func encoded() -> [UInt8] {
    var writer = StateWriter()
    writer.bytes.reserveCapacity(256)
    writer.put(Self.format)
    writer.put(device)
    for slot in block.values.indices { writer.put(block.values[slot]) }
    writer.put(user)
    writer.put(UInt8(cleared == nil ? 0 : 1))
    if let cleared {
      writer.put(word: cleared.high)
      writer.put(word: cleared.low)
    }
    for players in [known, optedOut, forgotten] {
      writer.put(UInt64(players.digests.count))
      for digest in players.digests {
        writer.put(word: digest.high)
        writer.put(word: digest.low)
      }
    }
    writer.put(Self.code(use) | Self.code(export) << 2)
    writer.put(crossGameUserID)
    writer.put(pushToken)
    switch phase {
    case .off: writer.put(UInt8(0))
    case .on: writer.put(UInt8(1))
    case .away(let since):
      writer.put(UInt8(2))
      writer.put(UInt64(bitPattern: since.milliseconds))
    case .open(let last):
      writer.put(UInt8(3))
      writer.put(UInt64(bitPattern: last.milliseconds))
    }
    writer.put(session)
    writer.put(lastSession)
    writer.put(UInt64(bitPattern: lastSeen.map { $0.milliseconds + 1 } ?? 0))
    writer.put(UInt64(bitPattern: emission))
    if !triggers.isEmpty { triggers.encode(into: &writer.bytes) }
    return writer.bytes
  }

  /// - Parameter bytes: memory that outlives the state, whose texts point into it.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(GameStateError) {
    var reader = unsafe StateReader(bytes)
    let format = try reader.byte()
    guard format == Self.format else { throw GameStateError(version: format) }
    self.init(device: try reader.text())
    for slot in block.values.indices { block.values[slot] = try reader.text() }
    user = try reader.text()
    if try reader.byte() == 1 { cleared = RecordKey(high: try reader.word(), low: try reader.word()) }
    known = try reader.players()
    optedOut = try reader.players()
    forgotten = try reader.players()
    let consents = try reader.byte()
    use = try Self.consent(consents & 3)
    export = try Self.consent(consents >> 2)
    crossGameUserID = try reader.text()
    pushToken = try reader.text()
    switch try reader.byte() {
    case 0: phase = .off
    case 1: phase = .on
    case 2: phase = .away(since: try reader.instant())
    case 3: phase = .open(last: try reader.instant())
    default: throw GameStateError()
    }
    session = try reader.text()
    lastSession = try reader.text()
    let seen = try reader.number()
    guard seen <= UInt64(Instant.last.milliseconds) + 1 else { throw GameStateError() }
    lastSeen = seen == 0 ? nil : Instant(milliseconds: Int64(seen) - 1)
    let emission = try reader.number()
    guard emission < 1 << 52 else { throw GameStateError() }
    self.emission = Int64(emission)
    if let rest = unsafe reader.rest {
      guard let triggers = unsafe TriggerCounts(decoding: rest) else { throw GameStateError() }
      self.triggers = triggers
    }
  }

  private static func code(_ consent: Bool?) -> UInt8 { consent.map { $0 ? 2 : 1 } ?? 0 }

  private static func consent(_ code: UInt8) throws(GameStateError) -> Bool? {
    guard code <= 2 else { throw GameStateError() }
    return code == 0 ? nil : code == 2
  }
}

/// Writes the parts of a state: integers as variable-length numbers, texts with their length.
private struct StateWriter {
  var bytes: [UInt8] = []

  mutating func put(_ byte: UInt8) { bytes.append(byte) }

  mutating func put(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func put(word: UInt64) { unsafe withUnsafeBytes(of: word.bigEndian) { unsafe bytes.append(contentsOf: $0) } }

  mutating func put(_ text: Text) {
    put(UInt64(text.count))
    unsafe bytes.append(contentsOf: text.bytes)
  }
}

@safe private struct StateReader {
  private var at: UnsafeRawPointer
  private let end: UnsafeRawPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    let start = unsafe bytes.baseAddress ?? UnsafeRawPointer(Text.empty.base)
    unsafe at = start
    unsafe end = start + bytes.count
  }

  /// What is left; nil if nothing is.
  var rest: UnsafeRawBufferPointer? { unsafe at == end ? nil : UnsafeRawBufferPointer(start: at, count: end - at) }

  mutating func byte() throws(GameStateError) -> UInt8 {
    guard unsafe at < end else { throw GameStateError() }
    defer { unsafe at += 1 }
    return unsafe at.load(as: UInt8.self)
  }

  mutating func number() throws(GameStateError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      guard shift < 64 else { throw GameStateError() }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }

  mutating func word() throws(GameStateError) -> UInt64 {
    guard unsafe end - at >= 8 else { throw GameStateError() }
    defer { unsafe at += 8 }
    return unsafe UInt64(bigEndian: at.loadUnaligned(as: UInt64.self))
  }

  mutating func instant() throws(GameStateError) -> Instant {
    let value = try number()
    guard value <= UInt64(Instant.last.milliseconds) else { throw GameStateError() }
    return Instant(milliseconds: Int64(value))
  }

  mutating func text() throws(GameStateError) -> Text {
    let count = try number()
    guard unsafe count <= UInt64(end - at) else { throw GameStateError() }
    defer { unsafe at += Int(count) }
    return unsafe Text(base: at.assumingMemoryBound(to: UInt8.self), count: Int(count))
  }

  mutating func players() throws(GameStateError) -> PlayerSet {
    let count = try number()
    guard unsafe count <= UInt64(end - at) / 16 else { throw GameStateError() }
    var digests: [LineDigest] = []
    for _ in 0..<count { digests.append(LineDigest(high: try word(), low: try word())) }
    guard let players = PlayerSet(sorted: digests) else { throw GameStateError() }
    return players
  }
}
