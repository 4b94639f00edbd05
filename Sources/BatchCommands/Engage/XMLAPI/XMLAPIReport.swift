import BatchFoundation
import BatchPipeline
import BatchWire
import Engage

/// The machine-readable outcome of an operation.
struct XMLAPIReport {
  let document: JSONNode
  let exit: RunExit

  init(_ operation: String, _ outcome: ServiceOutcome<XMLElement?>) {
    func document(_ word: String, _ key: String, _ value: JSONNode) -> JSONNode {
      ["operation": .text(operation), "outcome": .text(word), key: value]
    }
    let reason = JSONNode.text(outcome.reason)
    exit =
      switch outcome {
      case .answered: .done
      case .rejected: .inputRefused
      case .notSent, .refused, .unknown: outcome.stop?.exit ?? .serviceUnavailable
      }
    self.document =
      switch outcome {
      case .answered(let element): document("answered", "result", element.map(Self.node) ?? [:])
      case .rejected(let fault):
        document(
          "failed", "fault",
          [
            "id": .number(fault.id), "class": .text(fault.faultClass), "message": .text(fault.message),
            "meaning": .text(fault.meaning), "kind": .text(fault.kind.rawValue),
          ])
      case .notSent: document("notSent", "reason", reason)
      case .refused: document("refused", "reason", reason)
      case .unknown: document("unknown", "reason", reason)
      }
  }

  /// Elements that are a list even if there is only one.
  private static let repeated: Set<String> = [
    "COLUMN", "CONTACT_LIST_ID", "FAILURE", "KEY_COLUMN", "LIST", "Mailing", "PARAMETER", "ROW", "SYNC_FIELD",
  ]

  /// Returns text for an element that has only text, otherwise an object of attributes, as `@name`, and children.
  static func node(_ element: XMLElement) -> JSONNode {
    if element.elements.isEmpty, element.attributes.isEmpty { return .text(element.text) }
    var members = element.attributes.map { JSONMember(key: "@\($0.name)", value: .text($0.value)) }
    var order: [String] = []
    for child in element.elements where !order.contains(where: { child.isNamed($0) }) { order.append(child.name) }
    for name in order {
      let all = element.all(name).map(node)
      let isOne = all.count == 1 && !repeated.contains(name)
      members.append(JSONMember(key: name, value: isOne ? all[0] : .array(all)))
    }
    if element.elements.isEmpty, !element.text.isEmpty {
      members.append(JSONMember(key: "#text", value: .text(element.text)))
    }
    return JSONNode(.object(members))
  }
}
