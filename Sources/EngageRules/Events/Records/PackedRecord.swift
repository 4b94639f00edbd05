import BatchFoundation

extension Record {
  /// At most this many bytes does the payload take.
  @inline(__always)
  var payloadBound: Int {
    func text(_ text: Text?) -> Int { RecordPacker.bound(text) }
    var size = RecordPacker.head + text(mobileUserId) + text(anonymousId) + text(recipientId) + text(subject)
    size += text(channelId) + text(appKey)
    for slot in deviceValues.values.indices { size += text(deviceValues[slot]) }
    size += (params?.size ?? 0) + (body?.size ?? 0) + (notification?.size ?? 0) + 16
    if let placemark { for part in Placemark.Part.allCases { size += text(placemark[part]) } }
    return size
  }

  /// - Returns: the bytes written.
  @inline(__always)
  func writePayload(at start: UnsafeMutableRawPointer) -> Int {
    var packer = unsafe RecordPacker(at: start)
    packer.put(mobileUserId)
    packer.put(anonymousId)
    packer.put(recipientId)
    packer.put(subject)
    for slot in deviceValues.values.indices { packer.put(deviceValues[slot]) }
    packer.put(params)
    packer.put(body)
    packer.put(notification)
    packer.put(channelId)
    packer.put(appKey)
    packer.put(use)
    packer.put(export)
    packer.put(coordinates != nil)
    if let coordinates {
      packer.put(bits: coordinates.latitude.bitPattern)
      packer.put(bits: coordinates.longitude.bitPattern)
    }
    packer.put(placemark != nil)
    if let placemark { for part in Placemark.Part.allCases { packer.put(placemark[part]) } }
    return packer.end()
  }

  /// Fills in what ``writePayload(at:)`` wrote; device, time and place are known already.
  @inline(__always)
  mutating func unpack(_ payload: UnsafeRawPointer) {
    var unpacker = unsafe RecordUnpacker(at: payload)
    mobileUserId = unpacker.text()
    anonymousId = unpacker.text()
    recipientId = unpacker.text()
    subject = unpacker.text()
    for slot in deviceValues.values.indices { deviceValues.values[slot] = unpacker.text() ?? .empty }
    params = unpacker.view()
    body = unpacker.view()
    notification = unpacker.view()
    channelId = unpacker.text()
    appKey = unpacker.text()
    use = unpacker.optionalFlag()
    export = unpacker.optionalFlag()
    if unpacker.flag() {
      coordinates = (Double(bitPattern: unpacker.bits()), Double(bitPattern: unpacker.bits()))
    }
    guard unpacker.flag() else { return }
    var place = Placemark()
    for part in Placemark.Part.allCases { place[part] = unpacker.text() }
    placemark = place
  }
}
