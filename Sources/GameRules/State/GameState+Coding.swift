package import BatchFoundation

extension GameState {
  /// The version of the encoding: the first byte of every encoded state.
  package static let format: UInt8 = 2

  /// Returns the state as bytes for the store. Equal states give equal bytes.
  package func encoded() -> [UInt8] {
    var writer = StateWriter()
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
      writer.put(Int64(players.digests.count))
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
      writer.put(since)
    case .open(let last):
      writer.put(UInt8(3))
      writer.put(last)
    }
    writer.put(session)
    writer.put(lastSession)
    writer.put(UInt8(sessionBegan == nil ? 0 : 1))
    if let sessionBegan { writer.put(sessionBegan) }
    writer.put(lastRecord: lastSeen, lastKind, lastSource)
    writer.put(emission)
    if !triggers.isEmpty { triggers.put(to: &writer) }
    return writer.bytes
  }

  /// - Parameter bytes: must outlive the state, because its texts point into them.
  /// - Throws: ``DeviceStateError`` if the bytes are damaged or have a different version.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(DeviceStateError) {
    var reader = unsafe StateReader(bytes)
    let format = try reader.byte()
    guard format == Self.format else { throw DeviceStateError(version: format) }
    self.init(device: try reader.text())
    for slot in block.values.indices { block.values[slot] = try reader.text() }
    user = try reader.text()
    if try reader.byte() == 1 { cleared = NameUUID(high: try reader.word(), low: try reader.word()) }
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
    default: throw DeviceStateError()
    }
    session = try reader.text()
    lastSession = try reader.text()
    if try reader.byte() == 1 { sessionBegan = try reader.instant() }
    if let last = try reader.lastRecord() { (lastSeen, lastKind, lastSource) = last }
    emission = try reader.emission()
    if !reader.isAtEnd { triggers = try TriggerCounts(from: &reader) }
  }

  private static func code(_ consent: Bool?) -> UInt8 { consent.map { $0 ? 2 : 1 } ?? 0 }

  private static func consent(_ code: UInt8) throws(DeviceStateError) -> Bool? {
    guard code <= 2 else { throw DeviceStateError() }
    return code == 0 ? nil : code == 2
  }
}

extension StateReader {
  fileprivate mutating func players() throws(DeviceStateError) -> PlayerSet {
    var digests: [LineDigest] = []
    for _ in 0..<(try count(ofBytes: 16)) { digests.append(LineDigest(high: try word(), low: try word())) }
    guard let players = PlayerSet(sorted: digests) else { throw DeviceStateError() }
    return players
  }
}
