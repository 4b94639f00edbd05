import BatchFoundation

/// The bits of a payload's first four bytes, in the order in which the parts stand.
private enum Part {
  static let mobileUserId: UInt32 = 1 << 0
  static let anonymousId: UInt32 = 1 << 1
  static let recipientId: UInt32 = 1 << 2
  static let subject: UInt32 = 1 << 3
  static let deviceName: UInt32 = 1 << 4
  static let deviceVersion: UInt32 = 1 << 5
  static let osName: UInt32 = 1 << 6
  static let osVersion: UInt32 = 1 << 7
  static let appName: UInt32 = 1 << 8
  static let appVersion: UInt32 = 1 << 9
  static let params: UInt32 = 1 << 10
  static let body: UInt32 = 1 << 11
  static let coordinates: UInt32 = 1 << 12
  static let placemark: UInt32 = 1 << 13
  static let placeName: UInt32 = 1 << 14
  static let city: UInt32 = 1 << 15
  static let state: UInt32 = 1 << 16
  static let postalCode: UInt32 = 1 << 17
  static let country: UInt32 = 1 << 18
  static let countryCode: UInt32 = 1 << 19
  // A consent takes no bytes: whether it is said, and what.
  static let use: UInt32 = 1 << 20
  static let useIsGiven: UInt32 = 1 << 21
  static let export: UInt32 = 1 << 22
  static let exportIsGiven: UInt32 = 1 << 23
  static let channelId: UInt32 = 1 << 24
  static let appKey: UInt32 = 1 << 25
  static let notification: UInt32 = 1 << 26
}

/// Writes the payloads of records: four bytes of ``Part``, then texts and views one behind the other.
@safe struct RecordPacker {
  private var at: UnsafeMutableRawPointer
  private var parts: UInt32 = 0

  /// At most this many bytes does the payload take.
  @inline(__always)
  static func bound(_ record: borrowing Record) -> Int {
    func text(_ text: Text?) -> Int { (text?.count ?? 0) + 5 }
    var size =
      4 + text(record.mobileUserId) + text(record.anonymousId) + text(record.recipientId) + text(record.subject)
    size += text(record.channelId) + text(record.appKey)
    let device = record.deviceValues
    size += text(device.name) + text(device.version) + text(device.osName) + text(device.osVersion)
    size += text(device.appName) + text(device.appVersion)
    size += (record.params?.size ?? 0) + (record.body?.size ?? 0) + (record.notification?.size ?? 0) + 16
    if let place = record.placemark {
      size += text(place.name) + text(place.city) + text(place.state) + text(place.postalCode)
      size += text(place.country) + text(place.countryCode)
    }
    return size
  }

  /// - Returns: the bytes written.
  @inline(__always)
  static func pack(_ record: borrowing Record, at start: UnsafeMutableRawPointer) -> Int {
    var packer = unsafe RecordPacker(at: start + 4)
    packer.put(record.mobileUserId, Part.mobileUserId)
    packer.put(record.anonymousId, Part.anonymousId)
    packer.put(record.recipientId, Part.recipientId)
    packer.put(record.subject, Part.subject)
    packer.put(record.deviceValues.name, Part.deviceName)
    packer.put(record.deviceValues.version, Part.deviceVersion)
    packer.put(record.deviceValues.osName, Part.osName)
    packer.put(record.deviceValues.osVersion, Part.osVersion)
    packer.put(record.deviceValues.appName, Part.appName)
    packer.put(record.deviceValues.appVersion, Part.appVersion)
    packer.put(record.params, Part.params)
    packer.put(record.body, Part.body)
    packer.put(record.notification, Part.notification)
    if let coordinates = record.coordinates {
      packer.parts |= Part.coordinates
      unsafe packer.at.storeBytes(of: coordinates.latitude.bitPattern, as: UInt64.self)
      unsafe (packer.at + 8).storeBytes(of: coordinates.longitude.bitPattern, as: UInt64.self)
      unsafe packer.at += 16
    }
    if let place = record.placemark {
      packer.parts |= Part.placemark
      packer.put(place.name, Part.placeName)
      packer.put(place.city, Part.city)
      packer.put(place.state, Part.state)
      packer.put(place.postalCode, Part.postalCode)
      packer.put(place.country, Part.country)
      packer.put(place.countryCode, Part.countryCode)
    }
    packer.put(record.channelId, Part.channelId)
    packer.put(record.appKey, Part.appKey)
    if let use = record.use { packer.parts |= Part.use | (use ? Part.useIsGiven : 0) }
    if let export = record.export { packer.parts |= Part.export | (export ? Part.exportIsGiven : 0) }
    unsafe start.storeBytes(of: packer.parts, as: UInt32.self)
    return unsafe packer.at - start
  }

  private init(at: UnsafeMutableRawPointer) { unsafe self.at = unsafe at }

  @inline(__always)
  private mutating func put(_ text: Text?, _ part: UInt32) {
    guard let text else { return }
    parts |= part
    put(text)
  }

  @inline(__always)
  private mutating func put(_ text: Text) { unsafe at = text.writeShort(to: at) }

  @inline(__always)
  private mutating func put(_ view: JSONView?, _ part: UInt32) {
    guard let view else { return }
    parts |= part
    let size = view.size
    unsafe copyBytes(view.start, to: at, size)
    unsafe at += size
  }
}

/// Reads payloads again.
@safe struct RecordUnpacker {
  private var at: UnsafeRawPointer
  private let parts: UInt32

  /// Fills in what the payload has; device, time and place are known already.
  @inline(__always)
  static func unpack(_ payload: UnsafeRawPointer, into record: inout Record) {
    let parts = unsafe payload.loadUnaligned(as: UInt32.self)
    var unpacker = unsafe RecordUnpacker(at: payload + 4, parts: parts)
    record.mobileUserId = unpacker.text(Part.mobileUserId)
    record.anonymousId = unpacker.text(Part.anonymousId)
    record.recipientId = unpacker.text(Part.recipientId)
    record.subject = unpacker.text(Part.subject)
    record.deviceValues.name = unpacker.text(Part.deviceName)
    record.deviceValues.version = unpacker.text(Part.deviceVersion)
    record.deviceValues.osName = unpacker.text(Part.osName)
    record.deviceValues.osVersion = unpacker.text(Part.osVersion)
    record.deviceValues.appName = unpacker.text(Part.appName)
    record.deviceValues.appVersion = unpacker.text(Part.appVersion)
    record.params = unpacker.view(Part.params)
    record.body = unpacker.view(Part.body)
    record.notification = unpacker.view(Part.notification)
    if parts & Part.coordinates != 0 {
      let latitude = unsafe unpacker.at.loadUnaligned(as: UInt64.self)
      let longitude = unsafe unpacker.at.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      record.coordinates = (Double(bitPattern: latitude), Double(bitPattern: longitude))
      unsafe unpacker.at += 16
    }
    if parts & Part.placemark != 0 {
      var place = Placemark()
      place.name = unpacker.text(Part.placeName)
      place.city = unpacker.text(Part.city)
      place.state = unpacker.text(Part.state)
      place.postalCode = unpacker.text(Part.postalCode)
      place.country = unpacker.text(Part.country)
      place.countryCode = unpacker.text(Part.countryCode)
      record.placemark = place
    }
    record.channelId = unpacker.text(Part.channelId)
    record.appKey = unpacker.text(Part.appKey)
    if parts & Part.use != 0 { record.use = parts & Part.useIsGiven != 0 }
    if parts & Part.export != 0 { record.export = parts & Part.exportIsGiven != 0 }
  }

  @inline(__always)
  private mutating func text(_ part: UInt32) -> Text? {
    guard parts & part != 0 else { return nil }
    let (text, end) = unsafe JSONView.shortText(at: at)
    unsafe at = end
    return text
  }

  @inline(__always)
  private mutating func view(_ part: UInt32) -> JSONView? {
    guard parts & part != 0 else { return nil }
    let view = unsafe JSONView(at: at)
    unsafe at = view.end
    return view
  }
}
