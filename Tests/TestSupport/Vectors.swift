package import BatchFoundation
package import FoundationEssentials
import Testing

/// The cases in `Tests/Vectors`.
///
/// Swift Testing runs a test without cases as a success, so everything here throws when there is nothing to run. Ask in the arguments of
/// the test, `@Test(arguments: try Vectors.cases("deltadna", "vectors"))`, or check the count in a test of its own.
package enum Vectors {
  package static func data(_ file: String) throws -> Data {
    try Data(contentsOf: Checkout.url("Tests/Vectors/\(file).json"))
  }

  package static func document(_ file: String) throws -> JSONNode { try JSONNode.parse(Array(data(file))) }

  /// One member of a file, by the keys that lead to it.
  package static func node(_ file: String, _ path: [String]) throws -> JSONNode {
    var node = try document(file)
    for key in path {
      guard let member = node[key] else {
        throw MissingTestData("Tests/Vectors/\(file).json has no \(path.joined(separator: "."))")
      }
      node = member
    }
    return node
  }

  /// The cases of a list that a test wants.
  ///
  /// - Throws: ``MissingTestData`` when none is left.
  package static func cases(
    _ file: String, _ path: String..., where isWanted: (JSONNode) -> Bool = { _ in true }
  ) throws -> [VectorCase] {
    let list = try node(file, path).array ?? []
    let cases = list.enumerated().filter { isWanted($0.element) }.map { VectorCase($0.element, index: $0.offset) }
    return try wanted(cases, "Tests/Vectors/\(file).json \(path.joined(separator: "."))")
  }

  /// The same list.
  ///
  /// - Throws: ``MissingTestData`` when it is empty.
  package static func wanted<Case>(_ cases: [Case], _ source: String) throws -> [Case] {
    guard !cases.isEmpty else { throw MissingTestData("\(source): no case is left") }
    return cases
  }
}

/// One case, named by its id.
package struct VectorCase: Sendable, CustomTestStringConvertible {
  package var id: String
  package var node: JSONNode

  package init(_ node: JSONNode, index: Int) {
    self.node = node
    id = node["id"]?.string ?? node["id"]?.integer.map(String.init) ?? "\(index)"
  }

  package var testDescription: String { id }

  package subscript(path: String...) -> JSONNode? { path.reduce(Optional(node)) { $0?[$1] } }
}
