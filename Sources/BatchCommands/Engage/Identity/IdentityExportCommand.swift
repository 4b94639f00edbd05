import ArgumentParser
import BatchFoundation
import BatchReport
import Engage

extension IdentityCommand {
  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List devices with their mobile user id and recipient, and the recipients that were merged.",
      discussion: """
        A line for each device, and before it one for each recipient that it had and that was merged into another. Ids are hashed \
        unless --show-personal-data is given.
        """)

    @OptionGroup var choice: StoreChoice<JobName>
    @OptionGroup var personal: PersonalDataOption
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try IdentityCommand.reporting {
        let store = try choice.identities.reading()
        let personal = try personal.policy(for: store)
        var listing = Listing(answer.format, columns: ["device", "mobileUserId", "recipient", "mergedInto"])
        try store.identities.forEachIdentity { identity in
          listing.add(
            [identity.device, identity.mobileUserId, identity.recipientId, identity.mergedInto].map {
              .text($0.isEmpty ? nil : personal.id($0).text)
            })
        }
        listing.end()
      }
    }
  }
}
