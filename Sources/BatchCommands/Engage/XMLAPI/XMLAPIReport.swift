import BatchFoundation
import BatchPipeline
import BatchXML
import EngageAPI

/// What became of one operation, for a script.
struct XMLAPIReport {
  let document: JSONNode
  let exit: RunExit

  init(_ operation: String, _ outcome: CallOutcome<XMLElement?>) {
    switch outcome {
    case .answered(let element):
      document = [
        "operation": .text(operation), "outcome": "answered", "result": element.map(Self.node) ?? [:],
      ]
      exit = .done
    case .failed(let fault):
      document = [
        "operation": .text(operation), "outcome": "failed",
        "fault": [
          "id": .number(fault.id), "class": .text(fault.faultClass), "message": .text(fault.message),
          "meaning": .text(fault.meaning), "kind": .text(fault.kind.rawValue),
        ],
      ]
      exit = .inputRefused
    case .notSent(.unwritable(let reason)):
      document = ["operation": .text(operation), "outcome": "notSent", "reason": .text(reason)]
      exit = .inputRefused
    case .notSent(let reason): (document, exit) = Self.without(operation, "notSent", "\(reason)", outcome.stop)
    case .refused(let refusal): (document, exit) = Self.without(operation, "refused", "\(refusal)", outcome.stop)
    case .unknown(let reason): (document, exit) = Self.without(operation, "unknown", "\(reason)", outcome.stop)
    }
  }

  private static func without(
    _ operation: String, _ outcome: String, _ reason: String, _ stop: RunStop?
  ) -> (JSONNode, RunExit) {
    (
      ["operation": .text(operation), "outcome": .text(outcome), "reason": .text(reason)],
      stop?.exit ?? .serviceUnavailable
    )
  }

  /// Elements that are a list even when there is one of them.
  private static let repeated: Set<String> = [
    "COLUMN", "CONTACT_LIST_ID", "FAILURE", "KEY_COLUMN", "LIST", "Mailing", "PARAMETER", "ROW", "SYNC_FIELD",
  ]

  /// Text for an element of text only; else an object of its attributes, as `@name`, and its children.
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
