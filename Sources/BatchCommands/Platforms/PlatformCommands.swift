import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import FoundationEssentials

/// What a platform adds to the verbs that all platforms share. Verbs of its own stand beside it in its folder.
protocol PlatformCommands: Sendable {
  var platform: any Platform { get }

  /// What `init` writes.
  var firstJob: FirstJob.Content { get }

  /// Its part of a sandbox that runs on its own.
  func standaloneSandbox() -> any SandboxPart

  /// Its part of the sandbox of `--sandbox`, with what the configuration names.
  func sandbox(for settings: Settings) throws -> any SandboxPart

  /// Whether its service judges events by its clock, so that a sandbox has to show the end of the job's known time.
  var needsClockOfJob: Bool { get }

  /// Asks the service of a job, without changing anything there, whether the configuration fits it.
  ///
  /// - Parameter request: a run of the job, in a sandbox or not, that misses no setting.
  /// - Throws: ``ServiceSettingsError``.
  func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws

  /// What is wrong with files that a job or a configuration names.
  ///
  /// - Parameters: nil for what could not be read.
  func lint(_ job: Job?, _ configuration: Configuration?) -> [ConfigFinding]

  /// What a run of the job would refuse, besides settings that are missing; errors end the check with exit code 78.
  func refusals(of job: Job, _ configuration: Configuration) -> [ConfigurationFault]

  /// Reads the names and ids of an event's campaign off the last of ``Platform/eventColumns``.
  func campaigns(in store: EventStore) throws -> (JSONNode) -> [String]

  /// How listings show the devices of a store.
  var devices: any DeviceRows { get }

  /// What `why` tells of the platform's events.
  func stories(in store: EventStore, _ personal: PersonalData) throws -> any PlatformStories

  /// Makes at the service what a job needs there and does not find.
  ///
  /// - Throws: ``ServiceSettingsError``, or what kept the service from being prepared.
  /// - Parameter request: a run of the job, in a sandbox or not, that misses no setting.
  func prepare(_ request: RunRequest, _ options: PreparationOptions) throws -> PreparationReport

  /// Deletes people at the service, as far as its API can.
  ///
  /// - Parameters:
  ///   - isRehearsal: only reads, and says what would be deleted.
  ///   - personal: how ids are shown.
  /// - Returns: what was deleted, in words.
  func erase(
    _ ids: [PersonID], from request: RunRequest, _ store: EventStore, isRehearsal: Bool, _ personal: PersonalData
  ) throws -> [String]

  /// What waits in a store, or is kept there, beside events.
  func contents(of store: EventStore) throws -> StoreContents?
}

extension PlatformCommands {
  var needsClockOfJob: Bool { false }
  func refusals(of job: Job, _ configuration: Configuration) -> [ConfigurationFault] { [] }
  func contents(of store: EventStore) throws -> StoreContents? { nil }
}

/// What a store holds beside events.
struct StoreContents {
  /// Member of `store status --format json`.
  var key: String
  var document: JSONNode
  /// The same for people.
  var lines: [String]
}

extension Place {
  /// The job's file as people named it.
  init(of job: Job) { self.init(PathText.shown(job.file, from: FileManager.default.currentDirectoryPath)) }
}

extension ConfigurationFault {
  /// A job that contradicts itself is an error; addresses and credentials may come with the environment of the run.
  init(_ missing: MissingSetting, in job: Job) {
    self.init(
      Place(of: job), missing.cause == nil ? .note : .error,
      "'\(missing.name)' is not set, \(missing.cause.map { "but \($0)" } ?? "which a run that sends needs")",
      hint: "set \(missing.carrier) in its environment, or run with --sandbox")
  }
}

/// The endpoints of a platform, before the sandbox around them starts.
protocol SandboxPart {
  var endpoints: [SandboxEndpoint] { get }

  /// Takes its part of a fault file (`docs/sandbox.md`).
  mutating func read(_ reader: inout PlanReader) throws

  /// - Parameter server: of the server around them.
  func make(in server: SandboxSettings) throws -> any SandboxPlatform
}
