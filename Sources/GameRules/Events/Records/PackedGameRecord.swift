import BatchFoundation

extension GameRecord {
  /// At most this many bytes does the payload take.
  @inline(__always)
  var payloadBound: Int {
    func text(_ text: Text?) -> Int { RecordPacker.bound(text) }
    var size = RecordPacker.head + 16
    let values = block.values.span
    for slot in values.indices where !values[slot].isEmpty { size += text(values[slot]) }
    size += text(userID) + text(name) + text(flavour) + text(sessionID) + text(eventUUID) + text(value)
    return size + (own?.size ?? 0) + (params?.size ?? 0)
  }

  /// - Returns: the bytes written.
  @inline(__always)
  func writePayload(at start: UnsafeMutableRawPointer) -> Int {
    var packer = unsafe RecordPacker(at: start)
    packer.put(bits: key.high)
    packer.put(bits: key.low)
    let values = block.values.span
    for slot in values.indices { packer.put(values[slot].isEmpty ? nil : values[slot]) }
    packer.put(userID)
    packer.put(name)
    packer.put(flavour)
    packer.put(sessionID)
    packer.put(eventUUID)
    packer.put(value)
    packer.put(own)
    packer.put(params)
    packer.put(didLaunch)
    packer.put(use)
    packer.put(export)
    packer.put(isNoAction)
    packer.put(lacksReceipt)
    return packer.end()
  }

  /// Reads what ``writePayload(at:)`` wrote; texts and views stay in its memory.
  package mutating func unpack(_ payload: UnsafeRawPointer) {
    var unpacker = unsafe RecordUnpacker(at: payload)
    key = RecordKey(high: unpacker.bits(), low: unpacker.bits())
    var values = block.values.mutableSpan
    for slot in values.indices { values[slot] = unpacker.text() ?? .empty }
    userID = unpacker.text()
    name = unpacker.text()
    flavour = unpacker.text()
    sessionID = unpacker.text()
    eventUUID = unpacker.text()
    value = unpacker.text()
    own = unpacker.view()
    params = unpacker.view()
    didLaunch = unpacker.optionalFlag()
    use = unpacker.optionalFlag()
    export = unpacker.optionalFlag()
    isNoAction = unpacker.flag()
    lacksReceipt = unpacker.flag()
  }
}
