import BatchFoundation
import BatchReport
import BatchStore

/// The reason that an event was quarantined, and the way to send it.
struct QuarantinedEventStory {
  let id: EventID
  let event: StoredQuarantine
  private var source: RecordSource? { event.line.source }

  /// - Parameter replay: The command that imports it again; nil if unknown.
  func answer(replay: ShellCommand?) -> Facts {
    var answer: Facts = [
      "id": .text("\(id)"), "eventTimestamp": .text(id.timestamp.rfc3339),
      "reason": .text(event.line.reason.rawValue), "file": .text(source?.file), "line": .number(source?.line),
    ]
    answer.add(subject: "Event \(id) at \(id.timestamp.rfc3339)")
    answer.add("source", titled: "read from", source.map { "\($0)" } ?? "not known: the store has no line of it")
    answer.add(
      "quarantine", titled: "quarantined",
      "by run \(event.run.number): \(event.line.detail.printable) (\(event.line.reason.rawValue))",
      event.line.reason.remedy)
    answer.add("status", titled: "status", status(replay))
    return answer
  }

  private func status(_ replay: ShellCommand?) -> String {
    if let run = event.replayedRun { return "taken in again by run \(run.number)" }
    if let resolution = event.resolution { return "not sent: a person settled it (\(resolution.rawValue))" }
    let waits = "not sent: it waits in quarantine"
    guard let replay else { return "\(waits); once it is right, 'quarantine replay' with the store's job takes it in" }
    return "\(waits); once it is right, this takes it in, and the next run sends it: \(replay.text)"
  }
}
