import ArgumentParser
import BatchFoundation
import BatchReport
import BatchStore

struct StoreCorrectionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "corrections", abstract: "List sent events that are no longer correct because of late records.",
    discussion: """
      Sent events cannot be recalled, so no corrections are sent. Each row, oldest first, has the kind (changed or withdrawn), \
      the event's id, its device, the file and line of the late record, and the run that read the record; --show-personal-data \
      adds the event as sent and as it should be.
      """)

  @OptionGroup var options: StoreOptions<JobName>
  @OptionGroup var personal: PersonalDataOption

  @Option(help: "List at most this many rows.")
  var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
  }

  func run() throws {
    try options.reading { store, _ in
      let policy = try personal.policy(for: store)
      var listing = Listing(options.answer.format, columns: columns)
      var count = 0
      try store.ledger.forEachCorrection { correction in
        count += 1
        if limit.map({ count <= $0 }) ?? true { listing.add(try cells(correction, policy)) }
      }
      listing.end()
      if count == 0 { Streams.note("no sent events were affected by late records") }
      if let limit, count > limit {
        Streams.note("\((count - limit).counted("more correction")); raise --limit to list all")
      }
    }
  }

  private var columns: [String] {
    ["kind", "event", "device", "file", "line", "run"] + (personal.showPersonalData ? ["sent", "right"] : [])
  }

  private func cells(_ correction: Correction, _ policy: PersonalData) throws -> [JSONNode] {
    let cells: [JSONNode] = [
      .text(correction.kind.rawValue), .text("\(correction.event)"),
      .text(policy.id(String(decoding: correction.device, as: UTF8.self)).text),
      .text(correction.source?.file), .number(correction.source?.line), .number(correction.run.number),
    ]
    guard personal.showPersonalData else { return cells }
    return cells + [
      try JSONNode.parse(correction.sent, options: .nulCharacters),
      try correction.right.map { try JSONNode.parse($0.json, options: .nulCharacters) } ?? .text(nil),
    ]
  }
}
