import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchStore

/// The reasons for the events of one device (`run --explain DEVICE`).
package struct DeviceExplanation: Sendable {
  package struct Step: Sendable {
    /// The file of the record; nil for the end of the input.
    package var file: String?
    package var line: UInt64?
    package var timestamp: String?
    package var record: String
    /// The state before, the decisions with their reasons, the events, and the state after.
    package var lines: [String]
  }

  package var device: String
  /// The steps; empty if the run processed nothing of the device.
  package var steps: [Step] = []
  /// The state of the device in the store; nil if the store does not know it.
  package var state: String?
  /// Known devices with almost the same name, if there is nothing to explain.
  package var similar: [String] = []

  package var lines: [String] {
    if steps.isEmpty { return nothing }
    return steps.flatMap { step in
      let place = step.file.map { "\($0):\(step.line ?? 0): \(step.record)" } ?? "end of input"
      return ["\(place)\(step.timestamp.map { " at \($0)" } ?? "")"] + step.lines.map { "  \($0)" }
    }
  }

  private var nothing: [String] {
    if let state {
      return [
        "device \(device): nothing to explain, because this run met no new record of it; earlier runs left it at:",
        "  \(state)",
        "  to see how it came there, explain it with a store that does not exist: --dry-run --store NEW",
      ]
    }
    let hint = NearestName.question(similar).map { "; \($0)" } ?? ""
    return ["device \(device): nothing to explain, because neither the inputs nor the store have it\(hint)"]
  }
}

extension Pipeline {
  /// - Parameter store: nil if there is none.
  func explanation(_ local: DecisionResult, _ files: InputFiles, _ store: EventStore?) throws -> DeviceExplanation? {
    guard let device = request.explain else { return nil }
    var explanation = DeviceExplanation(device: device)
    explanation.steps = local.tally.explanation.map { step in
      DeviceExplanation.Step(
        file: step.position.flatMap { files.source(of: $0)?.file }, line: step.position?.line,
        timestamp: step.timestamp?.rfc3339, record: step.record, lines: step.lines)
    }
    guard explanation.steps.isEmpty else { return explanation }
    var names = local.nearDevices
    try store?.timelines.forEachDevice { stored in
      if stored.device.elementsEqual(device.utf8) {
        explanation.state = try platform.summary(of: stored)
      } else if NearestName.isNear(device, String(decoding: stored.device, as: UTF8.self)) {
        names.insert(String(decoding: stored.device, as: UTF8.self))
      }
    }
    explanation.similar = Array(names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(5))
    return explanation
  }
}
