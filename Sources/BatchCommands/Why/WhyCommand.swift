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
      Ids of events are those of 'store events'. Devices are named by their id, or by the hash that reports and listings show. To see \
      the record behind a decision while the export is there: 'run --dry-run --explain DEVICE --store NEW'.
      """)

  @Argument(help: "The id of an event.")
  var event: EventID?

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
      if let event, try store.event(event) == nil, let quarantined = try store.quarantined(event) {
        let story = QuarantinedEventStory(id: event, event: quarantined)
        try print(story.answer(store: choice.words()), story.document)
      } else if let event {
        let story = try EventStory(store.knownEvent(event), in: store, policy)
        try print(story.answer(), story.document)
      } else if let device {
        let name = try NamedDevice.find(device, in: store)
        let members = [
          JSONMember(key: "device", value: .text(policy.id(String(decoding: name, as: UTF8.self)).text)),
          JSONMember(key: "at", value: .text(at?.rfc3339)),
        ]
        try print(DeviceStory(name, at: at, in: store, policy).answer(), members)
      }
    }
  }

  private func print(_ answer: WhyAnswer, _ members: [JSONMember]) {
    switch format {
    case .text: for line in answer.lines { Streams.data(line.printable) }
    case .json: Streams.data(answer.document(members).text())
    }
  }
}
