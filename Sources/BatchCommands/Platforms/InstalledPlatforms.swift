import BatchPipeline
import BatchStore

/// The platforms of this program, with what each adds to the verbs.
enum InstalledPlatforms {
  /// A store that does not say whose it is is taken for the first one's, and so is a job.
  @TaskLocal static var all: [any PlatformCommands] = [EngageCommands(), DeltaDNACommands(), UnityCommands()]

  /// Those of the platform whose events a store holds.
  static func of(_ store: EventStore) -> (any PlatformCommands)? {
    all.first { $0.platform.name.utf8.elementsEqual(store.format.destination.utf8) }
  }

  static func of(_ platform: any Platform) -> (any PlatformCommands)? {
    all.first { $0.platform.name.utf8.elementsEqual(platform.name.utf8) }
  }
}

extension Platforms {
  static var installed: Platforms { Platforms(InstalledPlatforms.all.map(\.platform)) }
}
