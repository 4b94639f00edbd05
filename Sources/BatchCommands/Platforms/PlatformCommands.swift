import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import FoundationEssentials

/// The part that a platform adds to the commands that all platforms share.
protocol PlatformCommands: Sendable {
  var platform: any Platform { get }

  /// The content of the first job, which `init` writes.
  var firstJob: FirstJob.Content { get }

  /// Returns the platform's part of the sandbox for `--sandbox`, with the objects that the configuration names, or, if
  /// `settings` is nil, of a standalone sandbox.
  func sandbox(for settings: Settings?) throws -> any SandboxPart

  /// Checks that the configuration fits the job's service, without changing anything there.
  ///
  /// - Parameter request: The request for a run, possibly in a sandbox, with all necessary settings.
  /// - Throws: ``ServiceSettingsError``.
  func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws

  /// Returns the problems of files that a job or a configuration names. A parameter is nil if it could not be read.
  func lint(_ job: Job?, _ configuration: Configuration?) -> [ConfigurationFault]

  /// Returns everything that a run of the job would refuse, except missing settings; errors end the run with exit code
  /// 78.
  func refusals(of job: Job, _ configuration: Configuration) -> [ConfigurationFault]

  /// Returns a function that reads the names and ids of an event's campaign from the value of the last of
  /// ``Platform/eventColumns``.
  func campaigns(in store: EventStore) throws -> (JSONNode) -> [String]

  /// The columns of `store sessions`, and the row of a device.
  var sessionColumns: [String] { get }
  func session(of device: StoredDevice, _ personal: PersonalData) throws -> SessionRow

  /// Returns the last campaign of a device; nil for a device that never had one.
  func campaign(of device: StoredDevice) throws -> DeviceCampaign?

  /// Advice on finding campaigns that belong to no device; nil if campaigns belong to devices.
  var campaignNote: String? { get }

  /// Returns the platform's part of the output of `why`.
  func stories(in store: EventStore, _ personal: PersonalData) throws -> any PlatformStories

  /// Creates everything that a job needs and the service lacks; `request` is as for ``examine(_:_:)``.
  ///
  /// - Throws: ``ServiceSettingsError``, or the failure of a call.
  func prepare(_ request: RunRequest, _ options: PreparationOptions) throws -> PreparationReport

  /// Deletes people at the service, as far as its API can, and describes the deletions. A rehearsal only reads, and
  /// describes the deletions that would be made.
  func erase(
    _ ids: [PersonID], from request: RunRequest, _ store: EventStore, isRehearsal: Bool, _ personal: PersonalData
  ) throws -> [String]

  /// Returns facts about what is pending or kept in a store, other than events.
  func contents(of store: EventStore) throws -> Facts
}

extension PlatformCommands {
  var campaignNote: String? { nil }
  func refusals(of job: Job, _ configuration: Configuration) -> [ConfigurationFault] { [] }
  func contents(of store: EventStore) throws -> Facts { [:] }
}

extension ConfigurationFault {
  /// Creates an error for a contradictory job, otherwise a note: the run's environment may provide what is missing.
  init(_ missing: MissingSetting, in job: Job) {
    self.init(
      Place(of: job), missing.cause == nil ? .note : .error,
      "'\(missing.name)' is not set, \(missing.cause.map { "but \($0)" } ?? "and a run needs it to send")",
      hint: "set \(missing.carrier) in the environment of the run, or run with --sandbox")
  }
}

/// The options for a platform's endpoints, before the sandbox starts.
protocol SandboxPart {
  var endpoints: [SandboxEndpoint] { get }

  /// Reads the platform's part of a fault file (`docs/sandbox.md`).
  mutating func read(_ fields: Fields)

  func make(in server: SandboxSettings) throws -> any SandboxPlatform
}

/// The platforms of this program, with their additions to the commands.
enum InstalledPlatforms {
  /// The platforms; a store or job that names none belongs to the first.
  @TaskLocal static var all: [any PlatformCommands] = [EngageCommands(), DeltaDNACommands(), UnityCommands()]

  /// Returns the additions of one of ``Platforms/installed``.
  static func of(_ platform: any Platform) -> any PlatformCommands {
    // Jobs and stores of any other platform are refused when they are opened.
    guard let commands = all.first(where: { $0.platform.name.isIdentical(to: platform.name) }) else {
      preconditionFailure("the platform '\(platform.name)' is not installed")
    }
    return commands
  }
}

extension Platforms {
  static var installed: Platforms { Platforms(InstalledPlatforms.all.map(\.platform)) }
}

/// An installed platform as the value of an option.
struct PlatformName: ExpressibleByArgument {
  let commands: any PlatformCommands

  static var first: PlatformName { PlatformName(commands: InstalledPlatforms.all[0]) }

  /// All platform names, for messages.
  static var all: String {
    let names = allValueStrings
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }

  static var allValueStrings: [String] { InstalledPlatforms.all.map(\.platform.name) }

  var defaultValueDescription: String { commands.platform.name }

  private init(commands: any PlatformCommands) { self.commands = commands }

  init?(argument: String) {
    guard let commands = InstalledPlatforms.all.first(where: { $0.platform.name == argument }) else { return nil }
    self.commands = commands
  }
}
