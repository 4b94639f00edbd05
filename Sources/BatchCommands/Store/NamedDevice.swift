import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore

/// A device as an operator names it: by its id, or by the hash that reports and listings show for it.
enum NamedDevice {
  /// The bytes of its id.
  ///
  /// - Throws: ``UnknownName`` with the hashes of ids that are nearly the same, which may be somebody else's.
  static func find(_ text: String, in store: EventStore) throws -> [UInt8] {
    let name = Array(text.utf8)
    if try store.device(name) != nil { return name }
    let isHash = name.count == 16 && name.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    let hashes = PersonalData(.hash, key: try store.reportKey())
    var found: [UInt8]?
    var near: [String] = []
    try store.forEachDeviceName { candidate in
      let id = String(decoding: candidate, as: UTF8.self)
      if isHash, found == nil, hashes.id(id).text == text { found = candidate }
      if NearestName.isNear(text, id), near.count < 1000 { near.append(id) }
    }
    if let found { return found }
    near.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    throw UnknownName(kind: "device", name: text, near: near.prefix(5).compactMap { hashes.id($0).text })
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
