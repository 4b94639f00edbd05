import BatchFoundation
import EngageRules
import TestSupport
import Testing

/// One case of the vectors about links.
struct LinkVector: Sendable, CustomTestStringConvertible {
  var id: String
  var operation: String
  var node: JSONNode

  var testDescription: String { id }

  /// The cases of a list of `deeplinks.json` with one of the operations.
  static func all(_ list: String, _ operation: String) throws -> [LinkVector] {
    try Vectors.cases("deeplinks", list) { ($0["op"]?.string ?? list) == operation }
      .map { LinkVector(id: $0.id, operation: operation, node: $0.node) }
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
  of url: String, routes: String?, options: LinkOptions = LinkOptions(routeOrder: .literalFirst, ownDomains: []),
  _ body: (LinkReading) throws -> Result
) throws -> Result {
  let file = try routes.map { try RouteFile.read(Array($0.utf8), name: "routes.json") }
  let router = DeepLinkRouter(routes: file, options: options)
  let arena = Arena()
  return try withExtendedLifetime(arena) { try body(router.read(arena.text(url), into: arena)) }
}
