/// How large a document may be. A document beyond a limit is an error, never cut.
package struct XMLLimits: Sendable, Equatable {
  package var bytes = 1 << 20
  package var depth = 64
  package var elements = 100_000
  /// Attributes of one element: the parser compares each with every other one.
  package var attributes = 64

  /// For an answer of the service, capped like the body that carries it.
  package static let answer = XMLLimits()
  /// For a file the operator wrote.
  package static let file = XMLLimits(bytes: 16 << 20)
}
