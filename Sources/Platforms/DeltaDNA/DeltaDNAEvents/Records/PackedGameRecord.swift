import BatchFoundation

/// The payload of a packed record: a fixed head, then texts and views one behind the other, in the order of ``Part``.
///
/// The form never outlives the run, so it is in the machine's own byte order. Nothing is aligned.
private struct Head {
  var key: RecordKey
  var parts: UInt32
  /// Two bits each: 0 for nil, 2 for false, 3 for true.
  var didLaunch: UInt8
  var use: UInt8
  var export: UInt8
  var flags: UInt8

  static let isNoAction: UInt8 = 1
  static let lacksReceipt: UInt8 = 2

  static func bits(_ value: Bool?) -> UInt8 { value.map { $0 ? 3 : 2 } ?? 0 }
  static func value(_ bits: UInt8) -> Bool? { bits == 0 ? nil : bits == 3 }
}

/// The bits of the parts; those of the device block are its slots.
private enum Part {
  static let userID: UInt32 = 1 << 10
  static let name: UInt32 = 1 << 11
  static let flavour: UInt32 = 1 << 12
  static let sessionID: UInt32 = 1 << 13
  static let eventUUID: UInt32 = 1 << 14
  static let value: UInt32 = 1 << 15
  static let own: UInt32 = 1 << 16
  static let params: UInt32 = 1 << 17
}

extension GameRecord {
  /// At most this many bytes does the payload take.
  @inline(__always)
  var payloadBound: Int {
    func text(_ text: Text?) -> Int { (text?.count ?? 0) + 5 }
    var size = MemoryLayout<Head>.size
    let values = block.values.span
    for slot in values.indices where !values[slot].isEmpty { size += values[slot].count + 5 }
    size += text(userID) + text(name) + text(flavour) + text(sessionID) + text(eventUUID) + text(value)
    return size + (own?.size ?? 0) + (params?.size ?? 0)
  }

  /// - Returns: the bytes written.
  @inline(__always)
  func writePayload(at start: UnsafeMutableRawPointer) -> Int {
    var packer = unsafe Packer(at: start + MemoryLayout<Head>.size)
    let values = block.values.span
    for slot in values.indices where !values[slot].isEmpty { packer.put(values[slot], 1 << UInt32(slot)) }
    packer.put(userID, Part.userID)
    packer.put(name, Part.name)
    packer.put(flavour, Part.flavour)
    packer.put(sessionID, Part.sessionID)
    packer.put(eventUUID, Part.eventUUID)
    packer.put(value, Part.value)
    packer.put(own, Part.own)
    packer.put(params, Part.params)
    let head = Head(
      key: key, parts: packer.parts, didLaunch: Head.bits(didLaunch), use: Head.bits(use), export: Head.bits(export),
      flags: (isNoAction ? Head.isNoAction : 0) | (lacksReceipt ? Head.lacksReceipt : 0))
    unsafe withUnsafeBytes(of: head) {
      unsafe start.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(start), byteCount: MemoryLayout<Head>.size)
    }
    return unsafe packer.at - start
  }

  /// Reads what ``writePayload(at:)`` wrote; texts and views stay in its memory.
  package mutating func unpack(_ payload: UnsafeRawPointer) {
    let head = unsafe payload.loadUnaligned(as: Head.self)
    key = head.key
    didLaunch = Head.value(head.didLaunch)
    use = Head.value(head.use)
    export = Head.value(head.export)
    isNoAction = head.flags & Head.isNoAction != 0
    lacksReceipt = head.flags & Head.lacksReceipt != 0
    var unpacker = unsafe Unpacker(at: payload + MemoryLayout<Head>.size, parts: head.parts)
    var values = block.values.mutableSpan
    for slot in values.indices { values[slot] = unpacker.text(1 << UInt32(slot)) ?? .empty }
    userID = unpacker.text(Part.userID)
    name = unpacker.text(Part.name)
    flavour = unpacker.text(Part.flavour)
    sessionID = unpacker.text(Part.sessionID)
    eventUUID = unpacker.text(Part.eventUUID)
    value = unpacker.text(Part.value)
    own = unpacker.view(Part.own)
    params = unpacker.view(Part.params)
  }
}

@safe private struct Packer {
  var at: UnsafeMutableRawPointer
  var parts: UInt32 = 0

  init(at start: UnsafeMutableRawPointer) { unsafe at = unsafe start }

  @inline(__always)
  mutating func put(_ text: Text?, _ part: UInt32) {
    guard let text else { return }
    parts |= part
    var writer = unsafe ViewWriter(at: at)
    writer.key(text)
    unsafe at = writer.at
  }

  @inline(__always)
  mutating func put(_ view: JSONView?, _ part: UInt32) {
    guard let view else { return }
    parts |= part
    var writer = unsafe ViewWriter(at: at)
    writer.copy(view)
    unsafe at = writer.at
  }
}

@safe private struct Unpacker {
  var at: UnsafeRawPointer
  let parts: UInt32

  @inline(__always)
  mutating func text(_ part: UInt32) -> Text? {
    guard parts & part != 0 else { return nil }
    let (text, end) = unsafe JSONView.shortText(at: at)
    unsafe at = end
    return text
  }

  @inline(__always)
  mutating func view(_ part: UInt32) -> JSONView? {
    guard parts & part != 0 else { return nil }
    let view = unsafe JSONView(at: at)
    unsafe at = view.end
    return view
  }
}
