import BatchFoundation
import BatchPipeline

/// The JSON form of `--explain`.
enum ExplanationReport {
  static func document(_ explanation: DeviceExplanation) -> JSONNode {
    [
      "device": .text(explanation.device), "state": .text(explanation.state), "similar": .texts(explanation.similar),
      "steps": .array(
        explanation.steps.map {
          [
            "file": .text($0.file), "line": .number($0.line), "timestamp": .text($0.timestamp),
            "record": .text($0.record), "lines": .texts($0.lines),
          ]
        }),
    ]
  }
}
