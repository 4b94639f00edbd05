import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import FoundationEssentials

struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract:
      "Look into the store of a job, put events back that failed, delete what was posted, move it to another address.",
    subcommands: [
      StoreStatusCommand.self, StoreEventsCommand.self, StoreSessionsCommand.self, StoreCampaignsCommand.self,
      StoreRequeueCommand.self, StorePurgeCommand.self, StoreRebindCommand.self, StoreCheckCommand.self,
      StoreBackupCommand.self, StoreSalvageCommand.self, StoreErasuresCommand.self, StoreCorrectionsCommand.self,
      StoreDropPartitionCommand.self,
    ])
}

/// The store, named by its path or its job, and the format of a listing.
struct StoreOptions<Name: JobNaming>: ParsableArguments {
  @OptionGroup var choice: StoreChoice<Name>
  @OptionGroup var answer: AnswerOption

  /// Passes the store, if `checksPages` only an undamaged one, to `body` for reading; a run may have it open meanwhile.
  func reading(checksPages: Bool = true, _ body: (EventStore, any Platform) throws -> Void) throws {
    try Failures.reported {
      let (store, platform) = try Platforms.installed.openReading(choice.path(reads: true), checksPages: checksPages)
      try body(store, platform)
      try store.close()
    }
  }

  /// Passes the store to `body` for changes; no run may have it open.
  func writing(_ body: (EventStore, any Platform) throws -> Void) throws {
    try Failures.reported { try Platforms.installed.changing(choice.path(), body) }
  }
}

/// The store of a command that also takes a job for its settings.
struct JobStoreOption: ParsableArguments {
  @Option(help: "The store. (default: the job's)")
  var store: String?

  /// - Throws: `ValidationError` if neither names a store.
  func validate(_ source: ConfigSource<some JobNaming>) throws {
    if store == nil, source.job == nil { throw ValidationError.noStore }
  }

  /// - Parameter job: The job; nil only if the store is named by its path.
  func path(of job: Job?, inSandbox: Bool = false) -> String {
    store ?? job.map { RunRequest.storePath(of: $0, inSandbox: inSandbox) } ?? ""
  }

  /// Passes the store to `body` for changes; no run may have it open.
  func writing(
    of job: Job?, inSandbox: Bool = false, _ body: (EventStore, any Platform) throws -> Void
  ) throws {
    try Failures.reported { try Platforms.installed.changing(path(of: job, inSandbox: inSandbox), body) }
  }
}

extension Platforms {
  /// Passes an existing store to `body` for changes; no run may have it open.
  func changing(_ path: String, _ body: (EventStore, any Platform) throws -> Void) throws {
    // Opening a missing store would create one.
    guard FileManager.default.fileExists(atPath: path) else { throw StoreError.missing(path: path) }
    let (store, platform) = try open(path)
    defer {
      do {
        try store.close()
      } catch {
        Streams.note("\(error)")
      }
    }
    try body(store, platform)
  }
}

/// The option to show personal data of a listing in clear.
struct PersonalDataOption: ParsableArguments {
  @Flag(help: "Show ids and values as they were recorded; ids are hashed and values hidden otherwise.")
  var showPersonalData = false

  func policy(for store: EventStore) throws -> PersonalData {
    PersonalData(showPersonalData ? .clear : .hash, key: try store.runs.reportKey())
  }
}
