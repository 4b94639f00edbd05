/// How large a document may be. A document beyond a limit is an error, never cut.
package struct XMLLimits: Sendable, Equatable {
  package var bytes: Int
  package var depth: Int
  package var elements: Int
  /// Attributes of one element: the parser compares each with every other one.
  package var attributes: Int

  package init(bytes: Int = 1 << 20, depth: Int = 64, elements: Int = 100_000, attributes: Int = 64) {
    self.bytes = bytes
    self.depth = depth
    self.elements = elements
    self.attributes = attributes
  }

  /// For an answer of the service, capped like the body that carries it.
  package static let answer = XMLLimits()
  /// For a file the operator wrote.
  package static let file = XMLLimits(bytes: 16 << 20)
}
