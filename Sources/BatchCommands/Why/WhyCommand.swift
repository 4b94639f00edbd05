import ArgumentParser
import BatchFoundation
import BatchReport
import BatchStore
import FoundationEssentials

struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract:
      "Tell why an event is as it is and what became of it, or where a device stood at a time, from the store alone.",
    discussion: """
      Ids of events are those of 'store events', whole or their first characters; an event of a game is also found by its \
      eventUUID, sent or quarantined. Devices are named by their id, by the hash that reports and listings show, or by the only person who used them. To see \
      the record behind a decision while the export is there: 'run --dry-run --explain DEVICE --store NEW'.
      """)

  @Option(help: "A device, instead of an event.")
  var device: String?

  @Option(help: "With --device: why its last event with this campaign, by name or id, has it.")
  var campaign: String?

  @Option(
    help: ArgumentHelp(
      "A person by any id or its hash, instead of a device: all devices of the person answer.", valueName: "id"))
  var person: String?

  @Option(
    help: "With --device and --person: the time in question. (default: the end of what the store knows)",
    transform: Instant.argument)
  var at: Instant?

  @OptionGroup var choice: StoreChoice<EventOfJob>
  @OptionGroup var personal: PersonalDataOption
  @OptionGroup var answer: AnswerOption

  private var event: String? { choice.name.event }

  func validate() throws {
    if [event, device, person].compactMap({ $0 }).count != 1 {
      throw ValidationError("Name an event by its id, a device with --device, or a person with --person.")
    }
    if campaign != nil, device == nil { throw ValidationError("--campaign goes with --device.") }
    if at != nil, event != nil { throw ValidationError("--at goes with --device and --person.") }
  }

  func run() throws {
    try choice.reading { store in
      let policy = try personal.policy(for: store)
      if let event {
        switch try NamedEvent.find(event, in: store) {
        case .stored(let event): try print(event, in: store, policy)
        case .quarantined(let id, let event):
          let story = QuarantinedEventStory(id: id, event: event)
          print((story.answer(replay: try replay(in: store)), story.document))
        }
      } else if let device, let campaign {
        let device = try NamedDevice.find(device, in: store, personal)
        try print(NamedEvent.last(ofCampaign: campaign, on: device, until: at, in: store), in: store, policy)
      } else if let device {
        print(try story(of: NamedDevice.find(device, in: store, personal), in: store, policy))
      } else if let person {
        let stories = try NamedPerson.devices(person, in: store).map { try story(of: $0, in: store, policy) }
        answer.format.tell(.array(stories.map { $0.answer.document($0.head) })) { stories.forEach(print) }
      }
    }
  }

  private func print(_ event: StoredEvent, in store: EventStore, _ policy: PersonalData) throws {
    let story = try EventStory(event, in: store, policy)
    print((try story.answer(), story.document))
  }

  private func story(
    of device: [UInt8], in store: EventStore, _ policy: PersonalData
  ) throws -> (answer: WhyAnswer, head: JSONNode) {
    let name = policy.id(String(decoding: device, as: UTF8.self)).text
    let answer = try DeviceStory(device, at: at, in: store, policy).answer()
    return (answer, ["device": .text(name), "at": .text(at?.rfc3339)])
  }

  /// Returns the command that imports quarantined lines again; nil if no run names the store's job.
  private func replay(in store: EventStore) throws -> ShellCommand? {
    if let job = choice.job { return ShellCommand(["quarantine", "replay"] + (try choice.words()) + ["--job", job]) }
    for run in try store.runs.all().reversed() {
      guard let bytes = try store.runs.report(of: run.id) else { continue }
      // A report in the format of another release names no job.
      return try? StoredReport.report(bytes).invocation.replay(in: choice.path())
    }
    return nil
  }

  private func print(_ story: (answer: WhyAnswer, head: JSONNode)) {
    answer.format.tell(story.answer.document(story.head)) {
      for line in story.answer.lines { Streams.data(line.printable) }
    }
  }
}

/// The id of an event, preceded by the job unless `--job` names it.
struct EventOfJob: JobNaming {
  @Argument(help: ArgumentHelp("The job file, unless --job or --store is given.", valueName: "job"))
  var first: String?

  @Argument(help: ArgumentHelp("The id of an event; of a game's, also its eventUUID.", valueName: "event"))
  var second: String?

  @Option(name: .customLong("job"), help: ArgumentHelp("The job file, JSON or property list.", valueName: "job"))
  var option: String?

  /// Whether the first word names the job; a single word does if a file has that name.
  private var namesJob: Bool {
    second != nil || option == nil && first.map { FileManager.default.fileExists(atPath: $0) } ?? false
  }

  var job: String? { option ?? (namesJob ? first : nil) }
  var event: String? { second ?? (namesJob ? nil : first) }

  func validate() throws {
    if option != nil, second != nil { throw ValidationError("Name one job, as the argument or with --job.") }
  }
}
