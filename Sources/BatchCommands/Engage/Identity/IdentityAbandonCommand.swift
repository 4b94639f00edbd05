import ArgumentParser
import BatchFoundation
import Engage

extension IdentityCommand {
  struct Abandon: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "End a stopped plan and leave the service as it is, or let the events of a device go that has no recipient.",
      discussion:
        "The check of the plan counts as finished. A device that is abandoned gets no recipient for the ids that it records now."
    )

    @Argument(help: "The number of the plan.")
    var plan: Int64?
    @Option(
      help: ArgumentHelp(
        "A device whose set-up is due; its events go without a recipient. Repeatable.", valueName: "id"))
    var device: [String] = []
    @OptionGroup var options: ChangedStoreOptions

    func validate() throws {
      guard (plan == nil) != device.isEmpty else {
        throw ValidationError("Name the number of a plan, or devices with --device.")
      }
    }

    func run() throws {
      try options.changing { store in
        if let plan {
          try IdentityReconciler.abandon(plan, in: store, now: .now)
          return try IdentityCommand.report(plan, of: store, options.answer.format)
        }
        let people = try device.reduce(0) { count, device in
          let more = try store.identities.abandonSetups(of: device)
          guard more > 0 else { throw UnknownName(kind: "device", name: device, hint: "it waits for no recipient") }
          return count + more
        }
        options.answer.format.tell(["setUps": .number(people)]) {
          Streams.data("\(people.counted("set-up")) given up: the next run sends the events without a recipient")
        }
      }
    }
  }
}
