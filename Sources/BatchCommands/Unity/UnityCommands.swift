import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import Games

/// The Unity Analytics part of the shared commands; files, devices and stories are those of a deltaDNA game.
struct UnityCommands: PlatformCommands {
  private let game = DeltaDNACommands()

  var platform: any Platform { UnityPlatform() }

  var firstJob: FirstJob.Content { game.firstJob }

  func standaloneSandbox() -> any SandboxPart { UnitySandboxPart() }

  func sandbox(for settings: Settings) -> any SandboxPart { UnitySandboxPart() }

  /// The service rejects events that are too old or too far in the future according to its own clock.
  var needsClockOfJob: Bool { true }

  /// Checks only files and the connection, because every call to the service would have an effect.
  func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws {
    game.examineFiles(request.loaded, &findings)
    try findings.addConnection(of: request)
  }

  func lint(_ job: Job?, _ configuration: Configuration?) -> [ConfigurationFault] { game.lint(job, configuration) }

  func prepare(_ request: RunRequest, _ options: PreparationOptions) -> PreparationReport {
    PreparationReport(notes: [
      "events and parameters can only be declared in the Event Manager of the Unity Dashboard; "
        + "'deltadna schema infer' lists those that an export needs"
    ])
  }

  func campaigns(in store: EventStore) -> (JSONNode) -> [String] { game.campaigns(in: store) }

  var devices: any DeviceRows { game.devices }

  func stories(in store: EventStore, _ personal: PersonalData) -> any PlatformStories {
    game.stories(in: store, personal)
  }

  /// Always throws, because Unity has no erasure call: phones request erasure with an event.
  func erase(
    _ ids: [PersonID], from request: RunRequest, _ store: EventStore, isRehearsal: Bool, _ personal: PersonalData
  ) throws -> [String] {
    throw CommandError(
      .configuration,
      """
      error: the Collect API accepts only events, so --at-service cannot delete anything in Unity Analytics; nothing was \
      changed. Instead, run the job with a 'forgetMe' record for the player, which sends ddnaForgetMe; then run \
      'forget' without --at-service
      """)
  }
}

/// The options for the Unity endpoints, before the sandbox starts.
private struct UnitySandboxPart: SandboxPart {
  private var options = UnityEndpoints.defaults

  var endpoints: [SandboxEndpoint] { SandboxEndpoint.unity }

  mutating func read(_ fields: Fields) { options.read(fields, "unity") }

  func make(in server: SandboxSettings) -> any SandboxPlatform { UnityEndpoints(options) }
}
