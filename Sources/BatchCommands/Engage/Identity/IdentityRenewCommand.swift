import ArgumentParser
import BatchFoundation
import Engage

extension IdentityCommand {
  struct Renew: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Forget a recipient that the service has no more; the next run gives its devices another one.",
      discussion: "Nothing is asked of the service: 'engage-batch verify' names recipients that are gone.")

    @Argument(help: "The recipient's id.")
    var recipient: String
    @OptionGroup var options: ChangedStoreOptions

    func run() throws {
      try options.changing { store in
        let devices = try store.identities.forgetRecipient(recipient)
        guard devices > 0 else {
          throw UnknownName(kind: "recipient", name: recipient, hint: "no device of the store has it")
        }
        options.answer.format.tell(["devices": .number(devices)]) {
          Streams.data("\(devices.counted("device waits", "devices wait")) for another recipient")
        }
      }
    }
  }
}
