import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

extension Pipeline {
  /// Returns the reasons for the events of one device (`run --explain DEVICE`); nil if there is no device to explain.
  ///
  /// - Parameter store: the store of the job; nil if there is none.
  func explanation(_ local: DecisionResult, _ files: InputFiles, _ store: EventStore?) throws -> Facts? {
    guard let device = request.explain else { return nil }
    let steps = local.tally.explanation.map { step in
      (file: step.position.flatMap { files.source(of: $0)?.file }, line: step.position?.line, step)
    }
    var state: String?
    var names = steps.isEmpty ? local.nearDevices : []
    if steps.isEmpty {
      try store?.timelines.forEachDevice { stored in
        if stored.device.elementsEqual(device.utf8) {
          state = try platform.summary(of: stored)
        } else if NearestName.isNear(device, stored.device) {
          names.insert(String(decoding: stored.device, as: UTF8.self))
        }
      }
    }
    let similar = Array(names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(5))
    var facts: Facts = ["device": .text(device), "state": .text(state), "similar": .texts(similar)]
    let document: [JSONNode] = steps.map { file, line, step in
      [
        "file": .text(file), "line": .number(line), "timestamp": .text(step.timestamp?.rfc3339),
        "record": .text(step.record), "lines": .texts(step.lines),
      ]
    }
    let lines = steps.flatMap { file, line, step in
      let place = file.map { "\($0):\(line ?? 0): \(step.record)" } ?? "end of input"
      return ["\(place)\(step.timestamp.map { " at \($0.rfc3339)" } ?? "")"] + step.lines.map { "  \($0)" }
    }
    facts.add("steps", .array(document), steps.isEmpty ? nothing(of: device, state, similar) : lines)
    return facts
  }

  private func nothing(of device: String, _ state: String?, _ similar: [String]) -> [String] {
    if let state {
      return [
        "device \(device): nothing to explain, because this run read no new record of this device; its state after earlier runs:",
        "  \(state)",
        "  to see how this state was reached, explain the device again with a new store: --dry-run --store NEW",
      ]
    }
    let hint = NearestName.question(similar).map { "; \($0)" } ?? ""
    return ["device \(device): nothing to explain, because it is in neither the inputs nor the store\(hint)"]
  }
}
