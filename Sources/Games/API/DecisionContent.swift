package import BatchFoundation

/// What an answer of Engage holds for a game (reference deltadna-service 4.2).
package struct DecisionContent: Sendable {
  private let root: JSONNode

  /// - Parameter root: an object.
  package init(_ root: JSONNode) { self.root = root }

  /// The number of the decision as text, whether the service wrote it as a number or as one; nil without.
  package var transactionID: String? {
    switch root["transactionID"]?.value {
    case .number(let text), .string(let text): text
    default: nil
    }
  }

  /// The game parameters; nil without.
  package var parameters: JSONNode? { object("parameters") }

  /// What an event about the decision carries; nil without.
  package var eventParams: JSONNode? { object("eventParams") }

  /// The image message as the service wrote it, whatever it is; nil without.
  package var image: JSONNode? { root.present("image") }

  private func object(_ name: String) -> JSONNode? {
    guard let node = root[name], node.members != nil else { return nil }
    return node
  }
}
