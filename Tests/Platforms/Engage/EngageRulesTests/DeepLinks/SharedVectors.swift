import BatchFoundation
import BatchJSON
import EngageRules
import Testing

enum SharedVectors {
  static func read(_ path: String) -> JSONNode {
    do {
      return try SharedFiles.json(path)
    } catch {
      Issue.record(error)
      return JSONNode(.null)
    }
  }
}

/// One case of the shared vectors about links.
struct LinkVector: Sendable, CustomTestStringConvertible {
  var id: String
  var operation: String
  var node: JSONNode

  var testDescription: String { id }

  /// The cases of a list of `deeplinks.json` with one of the operations.
  static func all(_ list: String, _ operations: String...) -> [LinkVector] {
    let cases = SharedVectors.read("vectors/deeplinks.json")[list]?.array ?? []
    return cases.enumerated().compactMap { index, node in
      let operation = node["op"]?.string ?? list
      guard operations.contains(operation) else { return nil }
      return LinkVector(id: node["id"]?.string ?? "\(list)-\(index)", operation: operation, node: node)
    }
  }

  subscript(path: String...) -> JSONNode? {
    path.reduce(Optional(node)) { node, key in node?[key] }
  }
}

extension JSONNode {
  /// The members of an object of strings, in the order of their bytes.
  var texts: [String] {
    (members ?? []).map { "\($0.key)=\($0.value.string ?? "")" }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// The document again, in the same order.
  var source: String {
    switch value {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .number(let text): text
    case .string(let text): Self.quote(text)
    case .array(let elements): "[" + elements.map(\.source).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quote($0.key) + ":" + $0.value.source }.joined(separator: ",") + "}"
    }
  }

  private static func quote(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}

extension LinkReading {
  /// Names and values as text, for comparisons.
  static func texts(_ parameters: [Attribute]) -> [String] { parameters.map { "\($0.name)=\($0.value)" } }

  var warningCodes: [String] {
    warnings.map { $0.subject.isEmpty ? $0.kind.rawValue : "\($0.kind.rawValue) \($0.subject)" }
  }
}

/// Reads one link; the arena lives as long as what `body` looks at.
func withReading<Result>(
  of url: String, routes: String?, options: LinkOptions = LinkOptions(), _ body: (LinkReading) throws -> Result
) throws -> Result {
  let file = try routes.map { try RouteFile.read(Array($0.utf8), name: "routes.json") }
  let router = DeepLinkRouter(routes: file, options: options)
  let arena = Arena()
  return try withExtendedLifetime(arena) { try body(router.read(arena.text(url), into: arena)) }
}

/// A small generator (SplitMix64) whose numbers are the same on every run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
