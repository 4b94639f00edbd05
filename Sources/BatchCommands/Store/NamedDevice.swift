import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

/// A device as an operator names it: by its id, by the hash that reports and listings show for it, or by the person who used it and
/// no other device.
enum NamedDevice {
  /// The bytes of its id.
  ///
  /// - Throws: ``UnknownName`` with the ids that are nearest, by their hashes unless ids are shown: they may be somebody else's; or with
  ///   the devices of the person.
  static func find(_ text: String, in store: EventStore, _ personal: PersonalDataOption) throws -> [UInt8] {
    let name = Array(text.utf8)
    if try store.timelines.device(name) != nil { return name }
    let person = try NamedPerson(text, in: store)
    guard let first = person.devices.first else {
      if let hint = try NamedPerson.erasure(of: [text], in: store) {
        throw UnknownName(kind: "device", name: text, hint: hint)
      }
      var near = NearDevices(text)
      try store.timelines.forEachDeviceName { near.add(String(decoding: $0, as: UTF8.self)) }
      throw near.unknown(try personal.policy(for: store), isShown: personal.showPersonalData)
    }
    let hashes = PersonalData(.hash, key: try store.runs.reportKey())
    let names = person.devices.prefix(5).compactMap { hashes.id(String(decoding: $0, as: UTF8.self)).text }
    guard person.devices.count == 1 else {
      throw UnknownName(
        kind: "device", name: text,
        hint:
          "it is an id of a person with \(person.devices.count) devices, which --person names: \(names.joined(separator: ", "))"
          + (person.devices.count > names.count ? " and others" : ""))
    }
    if names != [text] {
      Streams.note("note: '\(text.printable)' is an id of a person, with the device \(names.joined())")
    }
    return first
  }
}

/// A person as an operator names one: by any id that devices and identities of the store have, or by its hash.
struct NamedPerson {
  /// The id, as each kind that the platform knows people by.
  let ids: [PersonID]
  /// The bytes of the ids of the devices that are or were the person's, as an erasure finds them.
  let devices: [[UInt8]]

  init(_ text: String, in store: EventStore) throws {
    let platform = try Platforms.installed.platform(named: store.format.destination)
    let value = try Self.clear(text, in: store, platform) ?? text
    let isDevice = try store.timelines.device(Array(value.utf8)) != nil
    ids = value.isEmpty ? [] : platform.personIDs.filter { $0 != .device || isDevice }.map { PersonID($0, value) }
    devices = try store.erasures.devices(of: ids) { try platform.belongs($0, to: $1) }
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// - Throws: ``UnknownName`` for somebody without a device.
  static func devices(_ text: String, in store: EventStore) throws -> [[UInt8]] {
    let devices = try NamedPerson(text, in: store).devices
    if devices.isEmpty {
      throw UnknownName(kind: "device of a person", name: text, hint: try erasure(of: [text], in: store) ?? "")
    }
    return devices
  }

  /// Says of ids of which nothing is there that they were forgotten, and when; nil where none of them was.
  static func erasure(of texts: [String], in store: EventStore) throws -> String? {
    let platform = try Platforms.installed.platform(named: store.format.destination)
    let ids = texts.flatMap { text in platform.personIDs.map { PersonID($0, text) } }
    return try store.erasures.lastErasure(of: ids).map {
      "\(texts.count == 1 ? "it" : "one of them") was forgotten at \($0.rfc3339), see 'store erasures'"
    }
  }

  /// The id that has the hash; nil for a text that is not a hash of one.
  private static func clear(_ text: String, in store: EventStore, _ platform: any Platform) throws -> String? {
    guard text.utf8.count == 16, text.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil }) else { return nil }
    let hashes = PersonalData(.hash, key: try store.runs.reportKey())
    func clear(_ ids: some Sequence<String>) -> String? { ids.first { hashes.id($0).text == text } }
    if let found = try clear(store.erasures.personalTableIDs()) { return found }
    var found: String?
    try store.timelines.forEachDevice { device in
      if found == nil {
        found = clear([String(decoding: device.device, as: UTF8.self)] + (try platform.ids(of: device)))
      }
    }
    return found
  }
}

/// The devices whose ids are nearest to one that no device has.
struct NearDevices {
  private static let most = 3

  private let name: String
  private var distance = Int.max
  private var ids: [String] = []

  init(_ name: String) { self.name = name }

  mutating func add(_ id: String) {
    guard NearestName.isNear(name, id) else { return }
    let distance = NearestName.distance(Array(name.utf8), Array(id.utf8))
    if distance < self.distance { (self.distance, ids) = (distance, []) }
    // One more tells that there are more.
    if distance == self.distance, ids.count <= Self.most { ids.append(id) }
  }

  /// Many that are as near say no more than none; hashes alone tell nobody which is meant.
  func unknown(_ personal: PersonalData, isShown: Bool) -> UnknownName {
    guard !ids.isEmpty else { return UnknownName(kind: "device", name: name) }
    let ask = "--show-personal-data shows their ids"
    guard ids.count <= Self.most else {
      return UnknownName(
        kind: "device", name: name,
        near: isShown ? ids.prefix(Self.most).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } : [],
        hint: isShown ? "others are as near" : "several are called nearly so; \(ask)")
    }
    let near = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { personal.id($0).text }
    return UnknownName(kind: "device", name: name, near: near, hint: isShown ? "" : ask)
  }
}

/// A name on the command line that the store does not have.
struct UnknownName: RunError, CustomStringConvertible {
  /// What it should have named, such as `device`.
  var kind: String
  var name: String
  /// Names that were perhaps meant.
  var near: [String] = []
  /// What else helps to find the right one; empty for nothing.
  var hint = ""

  var exit: RunExit { .usage }

  var description: String {
    let clauses = ["error: the store has no \(kind) '\(name)'", NearestName.question(near) ?? "", hint]
    return clauses.filter { !$0.isEmpty }.joined(separator: "; ")
  }
}

/// A name on the command line that several things in the store could have.
struct AmbiguousName: RunError, CustomStringConvertible {
  /// What it should have named, such as `event`.
  var kind: String
  var name: String
  var meanings: [String]

  var exit: RunExit { .usage }

  var description: String {
    "error: more than one \(kind) begins with '\(name)': \(meanings.joined(separator: ", ")); give more characters"
  }
}
