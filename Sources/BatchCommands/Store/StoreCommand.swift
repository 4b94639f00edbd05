import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import FoundationEssentials

/// `engage-batch store`: what a store holds, and what an operator may change about it.
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

/// Which store, by its path or by the job that keeps it, and how a listing is printed.
struct StoreOptions<Name: JobNaming>: ParsableArguments {
  @OptionGroup var choice: StoreChoice<Name>
  @OptionGroup var answer: AnswerOption

  /// Hands the store to `body`, to be looked at; a run may have it open meanwhile.
  ///
  /// - Parameter checksPages: false opens a damaged store too.
  func reading(checksPages: Bool = true, _ body: (EventStore, any Platform) throws -> Void) throws {
    try Failures.reported {
      let (store, platform) = try Platforms.installed.openReading(choice.path(reads: true), checksPages: checksPages)
      try body(store, platform)
      try store.close()
    }
  }

  /// Hands the store to `body`, to be changed; no run may have it open.
  func writing(_ body: (EventStore, any Platform) throws -> Void) throws {
    try Failures.reported { try Platforms.installed.changing(choice.path(), body) }
  }
}

/// The store of a command that takes a job for its settings, too.
struct JobStoreOption: ParsableArguments {
  @Option(help: "The store. (default: the job's)")
  var store: String?

  /// - Throws: a usage error where neither names a store.
  func validate(_ source: ConfigSource<some JobNaming>) throws {
    if store == nil, source.job == nil { throw ValidationError.noStore }
  }

  /// - Parameter job: nil only where the store is named by its path.
  func path(of job: Job?, inSandbox: Bool = false) -> String {
    store ?? job.map { RunRequest.storePath(of: $0, inSandbox: inSandbox) } ?? ""
  }

  /// Hands the store to `body`, to be changed; no run may have it open.
  func writing(
    of job: Job?, inSandbox: Bool = false, _ body: (EventStore, any Platform) throws -> Void
  ) throws {
    try Failures.reported { try Platforms.installed.changing(path(of: job, inSandbox: inSandbox), body) }
  }
}

extension Platforms {
  /// Hands an existing store to `body`, to be changed; no run may have it open.
  func changing(_ path: String, _ body: (EventStore, any Platform) throws -> Void) throws {
    // Opening would make a new store.
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

/// Whether what a listing says of people is shown as it is.
struct PersonalDataOption: ParsableArguments {
  @Flag(help: "Show ids and values as they were recorded; ids are hashed and values hidden otherwise.")
  var showPersonalData = false

  func policy(for store: EventStore) throws -> PersonalData {
    PersonalData(showPersonalData ? .clear : .hash, key: try store.runs.reportKey())
  }
}
