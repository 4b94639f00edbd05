import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchSandbox
import Games

/// The Unity Analytics part of the shared commands.
struct UnityCommands: GameCommands {
  var platform: any Platform { UnityPlatform() }

  let preparationNote =
    "events and parameters can only be declared in the Event Manager of the Unity Dashboard; "
    + "'deltadna schema infer' lists those that an export needs"

  let erasureRefusal = """
    error: the Collect API accepts only events, so --at-service cannot delete anything in Unity Analytics; nothing was \
    changed. Instead, run the job with a 'forgetMe' record for the player, which sends ddnaForgetMe; then run \
    'forget' without --at-service
    """

  func sandbox(for settings: Settings?) -> any SandboxPart { UnitySandboxPart() }
}

private struct UnitySandboxPart: SandboxPart {
  private var options = UnityEndpoints.defaults

  var endpoints: [SandboxEndpoint] { SandboxEndpoint.unity }

  mutating func read(_ fields: Fields) { options.read(fields, "unity") }

  func make(in server: SandboxSettings) -> any SandboxPlatform { UnityEndpoints(options) }
}
