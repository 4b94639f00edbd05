package import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchJSON
import BatchPipeline
import BatchPlatform
import BatchReport
import BatchStore
import EngageAPI
import EngageIdentity
import EngagePlatform
import EngageStore
import FoundationEssentials

/// `engage-batch identity`: the merges of a store, for operators.
package struct IdentityCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Look at merges, finish them, take them back.",
    discussion: """
      Plans that a fault or a kill interrupted are finished by the next run. Those in the states 'conflict' and 'held' wait for \
      'resume', 'undo' or 'abandon'.
      """,
    subcommands: [List.self, Show.self, Resume.self, Undo.self, Abandon.self, Link.self])

  package init() {}

  /// Runs what needs the store, and turns its errors into words and exit codes.
  static func reporting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as ExitCode {
      throw error
    } catch let error as IdentityReconciler.OperatorError {
      Streams.note("\(error)")
      throw ExitCode(error.exit)
    } catch let error as LinkError {
      Streams.note("\(error)")
      throw ExitCode(.inputRefused)
    } catch let failure as RemoteFailure {
      Streams.note("error: \(failure)")
      throw ExitCode(failure.exit)
    } catch {
      Streams.note("\(error)")
      throw ExitCode(RunFailure.exit(of: error))
    }
  }

  static func report(_ figures: IdentityFigures, _ format: OutputFormat) {
    switch format {
    case .text:
      Streams.data(
        "checks \(figures.checks), created \(figures.created), updated \(figures.updated), merged \(figures.merged), "
          + "conflicts \(figures.conflicts), audit rows \(figures.auditRows)")
    case .json:
      Streams.data(
        JSONNode.object([
          "checks": .number(figures.checks), "created": .number(figures.created), "updated": .number(figures.updated),
          "merged": .number(figures.merged), "conflicts": .number(figures.conflicts),
          "auditRows": .number(figures.auditRows),
        ]).text())
    }
  }

  /// Prints where a plan stands now.
  static func report(_ plan: Int64, of store: EventStore, _ format: OutputFormat) throws {
    guard let plan = try store.plan(plan) else { throw IdentityReconciler.OperatorError.unknownPlan(plan) }
    let report = PlanReport(plan, PersonalData(.hash, key: try store.reportKey()))
    switch format {
    case .text: Streams.data(report.line)
    case .json: Streams.data(report.summary.text())
    }
  }

  /// - Throws: what ends the command with another exit code than 0.
  static func end(_ result: IdentityResult) throws {
    if let failure = result.failure { throw failure }
    if result.figures.conflicts > 0 { throw ExitCode(.inputRefused) }
  }
}

struct StoreOption: ParsableArguments {
  @Option(help: "The store of the job.")
  var store: String

  func reading() throws -> EventStore { try EventStore.openReading(store, format: EngagePlatform().storeFormat) }

  /// Hands the store to `body`, to be changed; no run may have it open.
  func changing(_ body: (EventStore) throws -> Void) throws {
    // Opening would make a new store.
    guard FileManager.default.fileExists(atPath: store) else { throw StoreError.missing(path: store) }
    let store = try EventStore.open(store, format: EngagePlatform().storeFormat)
    let result = Result { try body(store) }
    try store.close()
    try result.get()
  }
}

/// A store, and the configuration that says where its service is.
struct ServiceOptions: ParsableArguments {
  @OptionGroup var store: StoreOption
  @OptionGroup var source: ConfigSource
  @Flag(help: "Use the sandbox that the store was filled from; no account is needed.")
  var sandbox = false

  /// Hands `body` what changes the store and its service, which has to be the one that the store belongs to.
  func reconciling(_ body: (IdentityReconciler) throws -> Void) throws {
    try IdentityCommand.reporting {
      let (job, configuration) = try source.load()
      let settings = configuration.settings
      let engage = EngagePlatform().storeDestination(settings)
      let destination = sandbox ? engage.inSandbox : engage
      try store.changing { store in
        try store.check(against: destination, jobFile: job?.file)
        try ServiceSession.run(settings, usesSandbox: sandbox, store: self.store.store) { service in
          try body(IdentityReconciler.ofOperator(settings, service: service, store: store, now: .now))
        }
      }
    }
  }
}

extension IdentityCommand {
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List plans, oldest first.")

    @OptionGroup var store: StoreOption
    @OptionGroup var personal: PersonalDataOption
    @Flag(help: "Only plans that are not ended.")
    var open = false
    @Option(help: "text or json.")
    var format: OutputFormat = .text

    func run() throws {
      try IdentityCommand.reporting {
        let store = try store.reading()
        let personal = try personal.policy(for: store)
        let reports = try (open ? store.openPlans() : store.plans()).map { PlanReport($0, personal) }
        switch format {
        case .text: for report in reports { Streams.data(report.line) }
        case .json: Streams.data(JSONNode.array(reports.map(\.summary)).text())
        }
      }
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show one plan with its steps, its images and its journal.")

    @Argument(help: "The number of the plan.")
    var plan: Int64
    @OptionGroup var store: StoreOption
    @OptionGroup var personal: PersonalDataOption
    @Option(help: "text or json.")
    var format: OutputFormat = .text

    func run() throws {
      try IdentityCommand.reporting {
        let store = try store.reading()
        guard let plan = try store.plan(plan) else { throw IdentityReconciler.OperatorError.unknownPlan(plan) }
        let report = PlanReport(plan, try personal.policy(for: store))
        let journal = try store.journal(of: plan.id)
        switch format {
        case .text: for line in report.lines(journal) { Streams.data(line) }
        case .json: Streams.data(report.document(journal).text())
        }
      }
    }
  }

  struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Go on with all plans that are not ended, or with one; decide held checks anew.")

    @Argument(help: "The number of the plan. (default: all)")
    var plan: Int64?
    @OptionGroup var service: ServiceOptions
    @Option(help: "text or json.")
    var format: OutputFormat = .text

    func run() throws {
      try service.reconciling { reconciler in
        let result = try reconciler.resume(plan)
        IdentityCommand.report(result.figures, format)
        try IdentityCommand.end(result)
      }
    }
  }

  struct Undo: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take a plan back, from wherever it is; the same merge is not made again.",
      discussion: """
        Restored are the columns that the plan changed, its audit row and who the device is. Events that were sent meanwhile, \
        opt-ins and contact lists are not.
        """)

    @Argument(help: "The number of the plan.")
    var plan: Int64
    @OptionGroup var service: ServiceOptions
    @Flag(help: "Leave a second audit row with the roles exchanged in place of the deleted one.")
    var keepAuditHistory = false
    @Option(help: "text or json.")
    var format: OutputFormat = .text

    func run() throws {
      try service.reconciling { reconciler in
        var reconciler = reconciler
        reconciler.keepsAuditHistory = keepAuditHistory
        let result = try reconciler.undo(plan)
        try IdentityCommand.report(plan, of: reconciler.store, format)
        try IdentityCommand.end(result)
      }
    }
  }

  struct Abandon: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "End a stopped plan and leave the service as it is; its check counts as finished.")

    @Argument(help: "The number of the plan.")
    var plan: Int64
    @OptionGroup var store: StoreOption
    @Option(help: "text or json.")
    var format: OutputFormat = .text

    func run() throws {
      try IdentityCommand.reporting {
        try store.changing { store in
          try IdentityReconciler.abandon(plan, in: store, now: .now)
          try IdentityCommand.report(plan, of: store, format)
        }
      }
    }
  }

  struct Link: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write a user's id into a column of an anonymous recipient and of the user's own.",
      discussion: "The SDKs' older updateAnonymousToPrimaryUser. Both recipients must exist.")

    @Option(help: ArgumentHelp("The recipient id of the anonymous recipient.", valueName: "id"))
    var anonymous: String
    @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
    var primary: String
    @Option(help: ArgumentHelp("The column that both get the user's id in.", valueName: "name"))
    var mergeColumn: String
    @Option(help: ArgumentHelp("The column by which the user's own recipient is found.", valueName: "name"))
    var primaryColumn = "EMAIL"
    @OptionGroup var source: ConfigSource
    @Option(help: "text or json.")
    var format: OutputFormat = .text

    func validate() throws {
      guard ![anonymous, primary, mergeColumn, primaryColumn].contains(where: \.isEmpty) else {
        throw ValidationError("Ids and names of columns cannot be empty.")
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
        switch format {
        case .text:
          Streams.data(
            "anonymous \(result.changedAnonymous ? "updated" : "unchanged"), "
              + "primary \(result.changedPrimary ? "updated" : "unchanged")")
        case .json:
          Streams.data(
            JSONNode.object([
              "changedAnonymous": .flag(result.changedAnonymous), "changedPrimary": .flag(result.changedPrimary),
            ]).text())
        }
      }
    }
  }
}

extension IdentityReconciler.OperatorError {
  var exit: RunExit {
    switch self {
    case .unknownPlan: .noInput
    // Trying again later does not help: the message names the plan that has to be undone first.
    case .ended, .later: .usage
    case .locked: .storeIsHeld
    }
  }
}
