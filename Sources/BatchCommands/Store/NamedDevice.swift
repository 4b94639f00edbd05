import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

/// A device named by an operator: by its id, by its hash in listings, or by a person who used only this device.
enum NamedDevice {
  /// Returns the bytes of the device's id.
  ///
  /// - Throws: ``UnknownName`` with the person's devices, always hashed, or with the nearest ids. The latter may belong
  ///   to other people, so they are hashed unless personal data is shown.
  static func find(_ text: String, in store: EventStore, _ personal: PersonalDataOption) throws -> [UInt8] {
    let name = Array(text.utf8)
    if try store.timelines.device(name) != nil { return name }
    let person = try NamedPerson(text, in: store)
    guard let first = person.devices.first else {
      if let hint = try NamedPerson.erasure(of: [text], in: store) {
        throw UnknownName(kind: "device", name: text, hint: hint)
      }
      var near = NearDevices(text)
      try store.timelines.forEachDevice { near.add($0.device) }
      throw near.unknown(try personal.policy(for: store), isShown: personal.showPersonalData)
    }
    let hashes = PersonalData(.hash, key: try store.runs.reportKey())
    let names = person.devices.prefix(5).compactMap { hashes.id(String(decoding: $0, as: UTF8.self)).text }
    guard person.devices.count == 1 else {
      throw UnknownName(
        kind: "device", name: text,
        hint:
          "this id belongs to a person with \(person.devices.count) devices; use --person for all of them, or name one: \(names.joined(separator: ", "))"
          + (person.devices.count > names.count ? " and others" : ""))
    }
    if names != [text] {
      Streams.note("note: '\(text.printable)' is an id of a person whose only device is \(names.joined())")
    }
    return first
  }
}

/// A person named by an operator: by any id in the store's devices and identities, or by its hash.
struct NamedPerson {
  /// The id, once for each kind of id by which the platform knows people.
  let ids: [PersonID]
  /// The bytes of the ids of the person's present and former devices, as an erasure finds them.
  let devices: [[UInt8]]

  init(_ text: String, in store: EventStore) throws {
    let platform = try Platforms.installed.platform(named: store.format.destination)
    let value = try Self.clear(text, in: store, platform) ?? text
    let isDevice = try store.timelines.device(Array(value.utf8)) != nil
    ids = value.isEmpty ? [] : platform.personIDs.filter { $0 != .device || isDevice }.map { PersonID($0, value) }
    devices = try store.erasures.devices(of: ids, platform.belonging)
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// - Throws: ``UnknownName`` for a person without a device.
  static func devices(_ text: String, in store: EventStore) throws -> [[UInt8]] {
    let devices = try NamedPerson(text, in: store).devices
    if devices.isEmpty {
      throw UnknownName(kind: "device of person", name: text, hint: try erasure(of: [text], in: store) ?? "")
    }
    return devices
  }

  /// Returns a note saying that one of the unknown ids was forgotten, and when; nil if none was.
  static func erasure(of texts: [String], in store: EventStore) throws -> String? {
    let platform = try Platforms.installed.platform(named: store.format.destination)
    let ids = texts.flatMap { text in platform.personIDs.map { PersonID($0, text) } }
    return try store.erasures.lastErasure(of: ids).map {
      "\(texts.count == 1 ? "it" : "one of them") was forgotten at \($0.rfc3339); see 'store erasures'"
    }
  }

  /// Returns the id that has the hash; nil for any other string.
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

/// The devices whose ids are most similar to an unknown one.
struct NearDevices {
  private static let most = 3

  private let name: String
  private var distance = Int.max
  private var ids: [String] = []

  init(_ name: String) { self.name = name }

  mutating func add(_ id: [UInt8]) {
    guard NearestName.isNear(name, id) else { return }
    let distance = NearestName.distance(Array(name.utf8), id)
    if distance < self.distance { (self.distance, ids) = (distance, []) }
    // One id beyond the limit shows that there are more.
    if distance == self.distance, ids.count <= Self.most { ids.append(String(decoding: id, as: UTF8.self)) }
  }

  /// Returns the error. Unless ids are shown, it adds a hint about the option that shows them, and lists no hashes if
  /// too many ids are equally near.
  func unknown(_ personal: PersonalData, isShown: Bool) -> UnknownName {
    guard !ids.isEmpty else { return UnknownName(kind: "device", name: name) }
    let ask = "--show-personal-data shows the ids"
    guard ids.count <= Self.most else {
      return UnknownName(
        kind: "device", name: name,
        near: isShown ? ids.prefix(Self.most).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } : [],
        hint: isShown ? "other ids are equally similar" : "several devices have similar ids; \(ask)")
    }
    let near = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { personal.id($0).text }
    return UnknownName(kind: "device", name: name, near: near, hint: isShown ? "" : ask)
  }
}

struct UnknownName: RunError, CustomStringConvertible {
  /// The expected kind, such as `device`.
  var kind: String
  var name: String
  /// Similar names, one of which may have been meant.
  var near: [String] = []
  /// Further help; empty if there is none.
  var hint = ""

  var exit: RunExit { .usage }

  var description: String {
    let clauses = ["error: the store has no \(kind) '\(name)'", NearestName.question(near) ?? "", hint]
    return clauses.filter { !$0.isEmpty }.joined(separator: "; ")
  }
}
