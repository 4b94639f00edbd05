import BatchFoundation

/// A device's platform and operating system, derived from its device block as the SDKs do (reference deltadna 4).
struct Client {
  let platform: Text
  let operatingSystem: Text

  /// - Parameter standIn: the platform to use if the operating system is unknown; empty for `UNKNOWN`.
  init(osName: Text, standIn: Text) {
    for system in Self.systems where osName.isEqualIgnoringASCIICase(to: system.osName) {
      (platform, operatingSystem) = (system.platform, system.operatingSystem)
      return
    }
    (platform, operatingSystem) = (standIn.isEmpty ? "UNKNOWN" : standIn, "UNKNOWN")
  }

  private static let systems: [(osName: Text, platform: Text, operatingSystem: Text)] = [
    ("iOS", "IOS", "IOS"), ("iPhone OS", "IOS", "IOS"), ("iPadOS", "IOS", "IOS"), ("tvOS", "IOS_TV", "TVOS"),
    ("Android", "ANDROID", "ANDROID"), ("FireOS", "AMAZON", "FIREOS"), ("Fire OS", "AMAZON", "FIREOS"),
    ("macOS", "MAC_CLIENT", "OSX"), ("OS X", "MAC_CLIENT", "OSX"), ("Mac OS X", "MAC_CLIENT", "OSX"),
    ("Windows", "PC_CLIENT", "WINDOWS"), ("Linux", "PC_CLIENT", "LINUX"),
  ]

  var isApplePhone: Bool { platform == "IOS" || platform == "IOS_TV" }

  /// The name of the parameter for push tokens.
  var pushTokenName: Text {
    platform == "ANDROID" || platform == "AMAZON" ? "androidRegistrationID" : "pushNotificationToken"
  }

  /// Returns the token as events carry it: an Apple token that consists of hexadecimal digits is converted to lower
  /// case.
  func pushToken(_ token: Text, in arena: Arena) -> Text {
    guard isApplePhone, token.allSatisfy({ Hexadecimal.value(of: $0) != nil }),
      token.contains(where: { Text.lowered($0) != $0 })
    else { return token }
    let target = unsafe arena.allocate(token.count).assumingMemoryBound(to: UInt8.self)
    for index in 0..<token.count { unsafe target[index] = Text.lowered(token[index]) }
    return unsafe Text(base: target, count: token.count)
  }
}

extension DeviceBlock {
  /// The recorded device type; derived from the device's name if there is none.
  var kindOfDevice: Text {
    let name = self[.name]
    if !self[.deviceType].isEmpty { return self[.deviceType] }
    if name.starts(with: "iPad".utf8) { return "TABLET" }
    if name.starts(with: "iPhone".utf8) { return "MOBILE_PHONE" }
    return unsafe name.bytes.contains("TV".utf8) ? "TV" : "UNKNOWN"
  }

  /// The digits of the first `[A-Za-z]([0-9]+,[0-9]+)` in the model, such as `15,2`; nil if there are none.
  var hardwareVersion: Text? {
    let version = self[.version]
    var at = 0
    while at < version.count {
      defer { at += 1 }
      guard version[at].isASCIILetter else { continue }
      let comma = version.digitsEnd(from: at + 1)
      guard comma > at + 1, comma < version.count, version[comma] == UInt8(ascii: ",") else { continue }
      let end = version.digitsEnd(from: comma + 1)
      if end > comma + 1 { return version.slice(at + 1, end) }
    }
    return nil
  }

  /// The recorded country, or `ZZ` if it is not two capital letters; nil if none was recorded.
  var userCountry: Text? {
    let country = self[.country]
    if country.isEmpty { return nil }
    return unsafe country.count == 2 && country.bytes.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
      ? country : "ZZ"
  }

  /// The recorded language, or `zz` if it is not two lower-case letters; nil if none was recorded.
  var userLanguage: Text? {
    let language = self[.language]
    if language.isEmpty { return nil }
    return unsafe language.count == 2 && language.bytes.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
      ? language : "zz"
  }

  /// Returns a locale such as `en_GB`; nil if neither language nor country was recorded.
  func userLocale(in arena: Arena) -> Text? {
    let (language, country) = (userLanguage, userCountry)
    guard language != nil || country != nil else { return nil }
    let target = unsafe arena.allocate(5).assumingMemoryBound(to: UInt8.self)
    unsafe target.update(from: (language ?? "zz").base, count: 2)
    unsafe target[2] = UInt8(ascii: "_")
    unsafe (target + 3).update(from: (country ?? "ZZ").base, count: 2)
    return unsafe Text(base: target, count: 5)
  }

  /// Returns the recorded time zone offset as `±hh:mm`; nil if it is missing or invalid.
  func offset(in arena: Arena) -> Text? {
    let text = self[.timezoneOffset]
    guard text.count == 5 || text.count == 6, text[0] == UInt8(ascii: "+") || text[0] == UInt8(ascii: "-") else {
      return nil
    }
    if text.count == 6, text[3] != UInt8(ascii: ":") { return nil }
    guard let hours = text.digits(1, 2), let minutes = text.digits(text.count - 2, 2), hours < 24, minutes < 60 else {
      return nil
    }
    if text.count == 6 { return text }
    let target = unsafe arena.allocate(6).assumingMemoryBound(to: UInt8.self)
    unsafe target.update(from: text.base, count: 3)
    unsafe target[3] = UInt8(ascii: ":")
    unsafe (target + 4).update(from: text.base + 3, count: 2)
    return unsafe Text(base: target, count: 6)
  }

  func maker(_ client: Client) -> Text? {
    if !self[.manufacturer].isEmpty { return self[.manufacturer] }
    return client.isApplePhone ? "Apple Inc" : nil
  }
}

extension Text {
  fileprivate func digitsEnd(from start: Int) -> Int {
    var at = start
    while at < count, self[at].isASCIIDigit { at += 1 }
    return at
  }
}
