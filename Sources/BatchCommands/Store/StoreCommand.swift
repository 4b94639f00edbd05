import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract:
      "Inspect, check, back up or repair a job's store, queue or delete its events, or bind it to another address.",
    subcommands: [
      StoreStatusCommand.self, StoreEventsCommand.self, StoreSessionsCommand.self, StoreCampaignsCommand.self,
      StoreRequeueCommand.self, StorePurgeCommand.self, StoreRebindCommand.self, StoreCheckCommand.self,
      StoreBackupCommand.self, StoreRestoreCommand.self, StoreSalvageCommand.self, StoreErasuresCommand.self,
      StoreCorrectionsCommand.self,
      StoreDropPartitionCommand.self,
    ])
}

/// The store, named by its path or its job, and the format of a listing.
struct StoreOptions<Name: JobNaming>: ParsableArguments {
  @OptionGroup var choice: StoreChoice<Name>
  @OptionGroup var answer: AnswerOption

  func reading(checksPages: Bool = true, _ body: (EventStore, any Platform) throws -> Void) throws {
    try choice.reading(checksPages: checksPages, body)
  }

  /// Passes the store to `body` for changes; no run may have it open.
  func writing(_ body: (EventStore, any Platform) throws -> Void) throws {
    try Platforms.installed.change(choice.path(), body)
  }
}

/// The store of a command that reads its settings from a job.
struct JobStoreOption: ParsableArguments {
  @Option(help: "The path of the store. (default: the job's store)")
  var store: String?

  /// - Throws: `ValidationError` if neither the option nor a job names a store.
  func validate(_ source: ConfigSource<some JobNaming>) throws {
    if store == nil, source.job == nil { throw ValidationError.noStore }
  }

  /// - Parameter job: The job; nil only if the store is named by its path.
  func path(of job: Job?, inSandbox: Bool = false) -> String {
    store ?? job.map { RunRequest.storePath(of: $0, inSandbox: inSandbox) } ?? ""
  }
}

struct PersonalDataOption: ParsableArguments {
  @Flag(help: "Show ids and values as recorded; otherwise ids are hashed and values hidden.")
  var showPersonalData = false

  func policy(for store: EventStore) throws -> PersonalData {
    PersonalData(showPersonalData ? .clear : .hash, key: try store.runs.reportKey())
  }
}

/// The store that a query is about, named by its path or by its job.
struct StoreChoice<Name: JobNaming>: ParsableArguments {
  @Option(help: "The path of the store, instead of a job.")
  var store: String?

  @OptionGroup var name: Name

  @Option(help: ArgumentHelp("With a job: the profile to apply.", valueName: "name"))
  var profile: String?

  @Flag(help: "With a job: use the store of runs with --sandbox.")
  var sandbox = false

  var job: String? { name.job }

  func validate() throws {
    if let store, let job {
      throw ValidationError(
        "Both a job (\(job)) and --store \(store) were given, and each names a store; leave out one.")
    }
    if store == nil, job == nil { throw ValidationError.noStore }
    if profile != nil, job == nil { throw ValidationError("--profile needs a job.") }
    if sandbox, job == nil { throw ValidationError("--sandbox needs a job.") }
  }

  /// Returns the path of the store. If `reads` is true, the job may be invalid.
  ///
  /// - Throws: ``ConfigurationErrors`` for an invalid job.
  func path(reads: Bool = false) throws -> String {
    if let store = store ?? job.flatMap({ EventStore.isStore($0) ? $0 : nil }) { return store }
    do {
      // Without a store there is a job, as `validate` ensures.
      let loaded = try JobSource.loader(asksService: false).load(job: job ?? "", CommandLineChanges(profile: profile))
      for warning in loaded.configuration.warnings { Streams.note(warning.description) }
      return RunRequest.storePath(of: loaded.job, inSandbox: sandbox)
    } catch {
      let kept = error.job.map { RunRequest.storePath(of: $0, inSandbox: sandbox) }
      guard reads, let kept, EventStore.isStore(kept) else { throw error }
      Streams.note(error.description)
      return kept
    }
  }

  /// Passes the store to `body` for reading; a run may have it open. If `checksPages` is true, a damaged store is
  /// refused.
  func reading(checksPages: Bool = true, _ body: (EventStore, any Platform) throws -> Void) throws {
    let (store, platform) = try Platforms.installed.openReading(path(reads: true), checksPages: checksPages)
    try body(store, platform)
    try store.close()
  }
}

extension EventStore {
  /// - Throws: ``UnknownName`` for a run that the store does not have.
  func knownRun(_ number: Int64) throws -> StoredRun {
    let runs = try runs.all()
    if let run = runs.first(where: { $0.id.number == number }) { return run }
    let hint = runs.last.map { "its last run is \($0.id.number); see 'engage-batch history'" } ?? "it has no runs yet"
    throw UnknownName(kind: "run", name: "\(number)", hint: hint)
  }
}

extension ValidationError {
  /// The error thrown if the store was named in neither of the two possible ways.
  static var noStore: ValidationError {
    ValidationError("Give the store with --store FILE, or the job with --job JOB.")
  }
}
