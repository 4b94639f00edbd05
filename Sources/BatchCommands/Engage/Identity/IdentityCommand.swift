import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import Engage

struct IdentityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "List, finish or undo merges.",
    discussion: """
      The next run finishes plans that were interrupted by a fault or a killed run. Plans in the state 'conflict' or 'held' \
      need 'resume', 'undo' or 'abandon'. Each run retries plans in the state 'refused'; the service refuses these until the \
      cause is fixed.
      """,
    subcommands: [List.self, Show.self, Resume.self, Undo.self, Abandon.self, Renew.self, Link.self, Export.self])

  /// Calls `body`; a failed call to the service ends the command with its reason.
  static func reporting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let failure as RemoteFailure {
      throw CommandError(failure.exit, "error: \(failure)")
    }
  }

  /// Carries out an operator's request and records the end of its run in the store.
  static func noting(_ run: RunID, in store: EventStore, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      // Only the command's own error is reported; a failure to record the end of its run is secondary.
      try? store.runs.finish(run, at: .now, exit: exit(of: error).rawValue, counters: "{}")
      throw error
    }
    try store.runs.finish(run, at: .now, counters: "{}")
  }

  private static func exit(of error: any Error) -> RunExit {
    guard let code = error as? ExitCode else { return RunExit(of: error) }
    return RunExit(rawValue: code.rawValue) ?? .inputOutput
  }

  static func report(_ figures: RunSummary.Identity, _ format: OutputFormat) {
    format.show(
      [
        "checks": .number(figures.checks), "created": .number(figures.created), "updated": .number(figures.updated),
        "merged": .number(figures.merged), "conflicts": .number(figures.conflicts),
        "auditRows": .number(figures.auditRows), "refused": .number(figures.refused),
      ],
      line: "checks \(figures.checks), created \(figures.created), updated \(figures.updated), "
        + "merged \(figures.merged), conflicts \(figures.conflicts), audit rows \(figures.auditRows)"
        + (figures.refused > 0 ? ", refused \(figures.refused)" : ""))
  }

  static func report(_ plan: Int64, of store: EventStore, _ format: OutputFormat) throws {
    guard let plan = try store.merges.plan(plan) else { throw CommandError.unknownPlan(plan) }
    format.show(try PlanReport(plan, of: store, PersonalData(.hash, key: store.runs.reportKey())).facts)
  }

  /// - Throws: The error or exit code for any result other than success.
  static func end(_ result: IdentityResult) throws {
    if let failure = result.failure { throw failure }
    if result.figures.refused > 0 { throw ExitCode(.protocolRefused) }
    if result.figures.conflicts > 0 { throw ExitCode(.inputRefused) }
  }
}

extension IdentityCommand {
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List plans, oldest first.")

    @OptionGroup var choice: StoreChoice<JobName>
    @OptionGroup var personal: PersonalDataOption
    @Flag(help: "Only unfinished plans.")
    var open = false
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try choice.readingIdentities { store in
        let personal = try personal.policy(for: store)
        let reports = try (open ? store.merges.openPlans() : store.merges.plans()).map {
          try PlanReport($0, of: store, personal)
        }
        if answer.format == .json { return answer.format.show(reports.map(\.facts)) }
        var listing = Listing(.text, columns: PlanReport.columns)
        for report in reports { listing.add(report.cells) }
        listing.end()
      }
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show a plan with its steps, the values before and after, and its journal.")

    @Argument(help: "The number of the plan.")
    var plan: Int64
    @OptionGroup var choice: StoreChoice<JobOption>
    @OptionGroup var personal: PersonalDataOption
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try choice.readingIdentities { store in
        guard let plan = try store.merges.plan(plan) else { throw CommandError.unknownPlan(plan) }
        let report = try PlanReport(plan, of: store, personal.policy(for: store))
        answer.format.show(report.facts(try store.merges.journal(of: plan.id)))
      }
    }
  }

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List devices with their mobile user id and recipient, and the recipients that were merged.",
      discussion: """
        One line per device, preceded by one line for each of its recipients that was merged into another. Ids are hashed \
        unless --show-personal-data is given.
        """)

    @OptionGroup var choice: StoreChoice<JobName>
    @OptionGroup var personal: PersonalDataOption
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try choice.readingIdentities { store in
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

  struct Link: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write a user's id to a column of an anonymous recipient and of the user's own recipient.",
      discussion: "Corresponds to the SDKs' older call updateAnonymousToPrimaryUser. Both recipients must exist.")

    @Option(help: ArgumentHelp("The id of the anonymous recipient.", valueName: "id"))
    var anonymous: String
    @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
    var primary: String
    @Option(help: ArgumentHelp("The column that receives the user's id in both recipients.", valueName: "name"))
    var mergeColumn: String
    @Option(help: ArgumentHelp("The column that identifies the user's recipient.", valueName: "name"))
    var primaryColumn = "EMAIL"
    @OptionGroup var source: ConfigSource<JobName>
    @OptionGroup var answer: AnswerOption

    func validate() throws {
      guard ![anonymous, primary, mergeColumn, primaryColumn].contains(where: \.isEmpty) else {
        throw ValidationError("Ids and column names cannot be empty.")
      }
    }

    func run() throws {
      try IdentityCommand.reporting {
        let settings = try source.load().configuration.settings
        let reconciler = try IdentityReconciler.ofOperator(
          settings, service: EngageService.of(settings.connection, sandbox: nil),
          store: EventStore.temporary(format: EngagePlatform().storeFormat),
          now: .now)
        let result = try reconciler.link(
          anonymous: anonymous, primary: primary, mergeColumn: mergeColumn, primaryColumn: primaryColumn)
        answer.format.show(
          ["changedAnonymous": .flag(result.changedAnonymous), "changedPrimary": .flag(result.changedPrimary)],
          line: "anonymous \(result.changedAnonymous ? "updated" : "unchanged"), "
            + "primary \(result.changedPrimary ? "updated" : "unchanged")")
      }
    }
  }

  struct Renew: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Forget a recipient that the service no longer has; the next run assigns another one to its devices.",
      discussion: "The service is not called; 'engage-batch verify' lists recipients that no longer exist.")

    @Argument(help: "The recipient's id.")
    var recipient: String
    @OptionGroup var options: StoreOptions<JobOption>

    func run() throws {
      try options.changingIdentities { store in
        let devices = try store.identities.forgetRecipient(recipient)
        guard devices > 0 else {
          throw UnknownName(
            kind: "recipient", name: recipient,
            hint: "'engage-batch identity export --show-personal-data' lists the recipients")
        }
        options.answer.format.show(
          ["devices": .number(devices)],
          line: "\(devices.counted("device gets", "devices get")) another recipient in the next run")
      }
    }
  }

  struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Continue all unfinished plans, or only one; repeat held checks.")

    @Argument(help: "The number of the plan. (default: all)")
    var plan: Int64?
    @OptionGroup var service: ServiceOptions
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try service.reconciling { reconciler in
        let result = try reconciler.resume(plan)
        IdentityCommand.report(result.figures, answer.format)
        try IdentityCommand.end(result)
      }
    }
  }

  struct Undo: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Undo a plan in any state; the same merge will not be repeated.",
      discussion: """
        Reverts the columns that the plan changed, its audit row and the identity of the device, but not opt-ins, contact lists \
        or events sent in the meantime.
        """)

    @Argument(help: "The number of the plan.")
    var plan: Int64
    @OptionGroup var service: ServiceOptions
    @Flag(help: "Keep the audit row, and write a second one with the roles swapped.")
    var keepAuditHistory = false
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try service.reconciling { reconciler in
        let result = try reconciler.undo(plan, keepsAuditHistory: keepAuditHistory)
        try IdentityCommand.report(plan, of: reconciler.store, answer.format)
        try IdentityCommand.end(result)
      }
    }
  }

  struct Abandon: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "End an unfinished plan and leave the service as it is, or release a device's events without a recipient.",
      discussion:
        "The check of the plan counts as finished. An abandoned device is assigned no recipient for its current ids."
    )

    @Argument(help: "The number of the plan.")
    var plan: Int64?
    @Option(
      help: ArgumentHelp(
        "A device whose set-up is due; its events are sent without a recipient. Repeatable.", valueName: "id"))
    var device: [String] = []
    @OptionGroup var options: StoreOptions<JobOption>

    func validate() throws {
      guard (plan == nil) != device.isEmpty else {
        throw ValidationError("Give the number of a plan, or devices with --device.")
      }
    }

    func run() throws {
      try options.changingIdentities { store in
        if let plan {
          try IdentityReconciler.abandon(plan, in: store, now: .now)
          return try IdentityCommand.report(plan, of: store, options.answer.format)
        }
        let people = try device.reduce(0) { count, device in
          let more = try store.identities.abandonSetups(of: device)
          guard more > 0 else {
            throw UnknownName(kind: "due set-up of device", name: device)
          }
          return count + more
        }
        options.answer.format.show(
          ["setUps": .number(people)],
          line: "\(people.counted("set-up")) abandoned: the next run sends the events without a recipient")
      }
    }
  }
}
