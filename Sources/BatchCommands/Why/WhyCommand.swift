package import ArgumentParser
import BatchFoundation
import BatchJSON
import BatchReport
import BatchStore

/// `engage-batch why`: why an event is as it is, or where a device stood, from the store alone.
package struct WhyCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "why",
    abstract:
      "Tell why an event is as it is and what became of it, or where a device stood at a time, from the store alone.",
    discussion: """
      Ids of events are those of 'store events', whole or their first characters; an event of a game is also found by its \
      eventUUID, sent or quarantined. Devices are named by their id, by the hash that reports and listings show, or by the only person who used them. To see \
      the record behind a decision while the export is there: 'run --dry-run --explain DEVICE --store NEW'.
      """)

  @Argument(help: "The id of an event; of a game's, also its eventUUID.")
  var event: String?

  @Option(help: "A device, instead of an event.")
  var device: String?

  @Option(help: "With --device: the time in question, in RFC 3339. (default: the end of what the store knows)")
  var at: Instant?

  @OptionGroup var choice: StoreChoice
  @OptionGroup var personal: PersonalDataOption

  @Option(help: "text or json.")
  var format: OutputFormat = .text

  package init() {}

  package func validate() throws {
    if (event == nil) == (device == nil) {
      throw ValidationError("Name an event by its id, or a device with --device.")
    }
    if at != nil, device == nil { throw ValidationError("--at goes with --device.") }
  }

  package func run() throws {
    try choice.reading { store in
      let policy = try personal.policy(for: store)
      if let event {
        switch try NamedEvent.find(event, in: store) {
        case .stored(let event):
          let story = try EventStory(event, in: store, policy)
          try print(story.answer(), story.document)
        case .quarantined(let id, let event):
          let story = QuarantinedEventStory(id: id, event: event)
          try print(story.answer(replay: replay(in: store)), story.document)
        }
      } else if let device {
        let name = try NamedDevice.find(device, in: store, personal)
        let members = [
          JSONMember(key: "device", value: .text(policy.id(String(decoding: name, as: UTF8.self)).text)),
          JSONMember(key: "at", value: .text(at?.rfc3339)),
        ]
        try print(DeviceStory(name, at: at, in: store, policy).answer(), members)
      }
    }
  }

  /// What takes in again what waits in quarantine; nil where no run says which job the store is of.
  private func replay(in store: EventStore) throws -> ShellCommand? {
    if let job = choice.job { return ShellCommand(["quarantine", "replay"] + (try choice.words()) + ["--job", job]) }
    for run in try store.runs().reversed() {
      guard let bytes = try store.report(of: run.id) else { continue }
      // A report that another release wrote in another form names no job either.
      return try? StoredReport.report(bytes).invocation.replay(in: choice.path())
    }
    return nil
  }

  private func print(_ answer: WhyAnswer, _ members: [JSONMember]) {
    switch format {
    case .text: for line in answer.lines { Streams.data(line.printable) }
    case .json: Streams.data(answer.document(members).text())
    }
  }
}
