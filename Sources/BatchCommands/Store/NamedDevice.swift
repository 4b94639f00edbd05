import BatchConfiguration
import BatchFoundation
import BatchPlatform
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
    if try store.device(name) != nil { return name }
    let isHash = name.count == 16 && name.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    let hashes = PersonalData(.hash, key: try store.reportKey())
    var found: [UInt8]?
    var near = NearDevices(text)
    try store.forEachDeviceName { candidate in
      let id = String(decoding: candidate, as: UTF8.self)
      if isHash, found == nil, hashes.id(id).text == text { found = candidate }
      near.add(id)
    }
    if let found { return found }
    if let device = try device(ofPerson: text, in: store, hashes) { return device }
    throw near.unknown(try personal.policy(for: store), isShown: personal.showPersonalData)
  }

  /// The device that is told of in place of a person; nil if no device has the id.
  private static func device(
    ofPerson text: String, in store: EventStore, _ hashes: PersonalData
  ) throws -> [UInt8]? {
    let platform = try Platforms.installed.platform(named: store.format.destination)
    var role = ""
    var devices: [[UInt8]] = []
    try store.forEachDevice { device in
      guard let found = try platform.role(of: text, at: device) else { return }
      role = found
      devices.append(device.device)
    }
    guard let first = devices.first else { return nil }
    let names = devices.prefix(5).compactMap { hashes.id(String(decoding: $0, as: UTF8.self)).text }
    if devices.count == 1 {
      Streams.note("note: '\(text.printable)' is \(role), of device \(names.joined())")
      return first
    }
    throw UnknownName(
      kind: "device", name: text,
      hint: "it is \(role), of \(devices.count) devices: \(names.joined(separator: ", "))"
        + (devices.count > names.count ? " and others" : ""))
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
    let suggestion = near.isEmpty ? "" : "; did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"
    return "error: the store has no \(kind) '\(name)'\(suggestion)\(hint.isEmpty ? "" : "; \(hint)")"
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
