import BatchFoundation

@testable import EngageRules

/// Short ways to write the records of a test; times are of 2026-01-01, as in `00:10:00`.
extension Fixture {
  func lifecycle(_ type: RecordType, _ time: String, id: StaticString? = nil) throws {
    try add(type, at: Self.day(time)) { if let id { $0.mobileUserId = Text(id) } }
  }

  func named(_ time: String, _ params: String? = nil, id: StaticString? = nil) throws {
    try add(.namedEvent, at: Self.day(time)) {
      $0.subject = "E"
      if let params { $0.params = try json(params) }
      if let id { $0.mobileUserId = Text(id) }
    }
  }

  func push(_ time: String, _ payload: String, _ params: String? = nil) throws {
    try add(.pushReceived, at: Self.day(time)) {
      $0.body = try json(payload)
      if let params { $0.params = try json(params) }
    }
  }

  func link(_ time: String, _ url: String, _ params: String? = nil) throws {
    try add(.deepLink, at: Self.day(time)) {
      $0.subject = arena.text(url)
      if let params { $0.params = try json(params) }
    }
  }

  func location(_ time: String, _ latitude: Double, _ longitude: Double) throws {
    try add(.location, at: Self.day(time)) { $0.coordinates = (latitude, longitude) }
  }

  func placemark(_ time: String, name: String? = nil, city: String? = nil) throws {
    try add(.placemark, at: Self.day(time)) {
      var placemark = Placemark()
      placemark.name = name.map { arena.text($0) }
      placemark.city = city.map { arena.text($0) }
      $0.placemark = placemark
    }
  }

  func raw(_ time: String, _ code: StaticString, _ attributes: String) throws {
    try add(.rawEvent, at: Self.day(time)) {
      $0.subject = Text(code)
      $0.body = try json(attributes)
    }
  }

  /// A run up to a time of the day over the state that an earlier run stored.
  func day(_ asOf: String, after earlier: DeviceState? = nil) throws -> (events: [Event], rules: DeviceRules) {
    try run(asOf: Self.day(asOf), state: earlier.map { try reloaded($0) })
  }

  static func day(_ time: String) -> String { "2026-01-01T\(time)Z" }

  /// A device under lifecycle rules whose user id is known.
  static var known: DeviceState {
    var state = DeviceState(device: "d-1")
    state.hasLifecycle = true
    state.installed = true
    state.core[.primaryUserId] = "u-1"
    return state
  }
}

extension Event {
  /// Code and time of the day, then the named attributes that are there.
  func brief(_ names: [String] = []) -> String {
    let time = timestamp.rfc3339.dropFirst(11).dropLast(timestamp.milliseconds % 1000 == 0 ? 5 : 1)
    return (["\(code) \(time)"] + names.compactMap { name in self[name].map { "\(name)=\($0)" } }).joined(
      separator: ", ")
  }

  /// Everything about the event that a run writes or keeps.
  var whole: String {
    let attributes = wireAttributes.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
    return "\(code)@\(timestamp.rfc3339)#\(emission)\(expired ? "!" : "") \(attributes)"
  }
}

extension [Event] {
  func brief(_ names: String...) -> [String] { map { $0.brief(names) } }
}
