import BatchFoundation
import BatchPipeline

/// `--explain` as JSON.
enum ExplanationReport {
  static func document(_ explanation: DeviceExplanation) -> JSONNode {
    .object([
      "device": .text(explanation.device), "state": .text(explanation.state),
      "similar": .array(explanation.similar.map { .text($0) }),
      "steps": .array(
        explanation.steps.map { step in
          .object([
            "file": .text(step.file), "line": step.line.map { .number($0) } ?? .text(nil),
            "timestamp": .text(step.timestamp), "record": .text(step.record),
            "lines": .array(step.lines.map { .text($0) }),
          ])
        }),
    ])
  }
}
