import ArgumentParser
import BatchFoundation
import BatchReport
import BatchStore

/// `engage-batch store corrections`: events that a service has, or may have, and that late records make different.
struct StoreCorrectionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "corrections", abstract: "List events that were sent and that late records make different.",
    discussion: """
      A service takes nothing back, so nothing is sent for them. Each line has the kind (changed or withdrawn), the event's id, its \
      device, the late record and the run that read it; --show-personal-data adds the event as it was sent and as it is right.
      """)

  @OptionGroup var options: StoreOptions<JobName>
  @OptionGroup var personal: PersonalDataOption

  func run() throws {
    try options.reading { store, _ in
      let policy = try personal.policy(for: store)
      var documents: [JSONNode] = []
      var count = 0
      try store.ledger.forEachCorrection { correction in
        count += 1
        if options.answer.format == .json {
          documents.append(try document(correction, policy))
        } else {
          Streams.data(try row(correction, policy))
        }
      }
      if options.answer.format == .json { Streams.data(JSONNode.array(documents).text()) }
      if count == 0 { Streams.note("no event was sent otherwise than late records make it") }
    }
  }

  private func row(_ correction: Correction, _ policy: PersonalData) throws -> String {
    let device = policy.id(String(decoding: correction.device, as: UTF8.self)).text ?? ""
    var cells = [
      correction.kind.rawValue, "\(correction.event)", device, correction.source.map { "\($0)" } ?? "",
      "run \(correction.run.number)",
    ]
    if personal.showPersonalData {
      cells += [correction.sent, correction.right?.json ?? []].map { String(decoding: $0, as: UTF8.self) }
    }
    return cells.map(\.printable).joined(separator: "\t")
  }

  private func document(_ correction: Correction, _ policy: PersonalData) throws -> JSONNode {
    let document: JSONNode = [
      "kind": .text(correction.kind.rawValue), "event": .text("\(correction.event)"),
      "device": .text(policy.id(String(decoding: correction.device, as: UTF8.self)).text),
      "file": .text(correction.source?.file), "line": .number(correction.source?.line),
      "run": .number(correction.run.number),
    ]
    guard personal.showPersonalData else { return document }
    return document.adding([
      "sent": try JSONNode.parse(correction.sent),
      "right": try correction.right.map { try JSONNode.parse($0.json) } ?? .text(nil),
    ])
  }
}
