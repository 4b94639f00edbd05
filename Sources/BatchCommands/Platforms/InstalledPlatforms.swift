import BatchPipeline
import BatchStore

/// The platforms of this program, with what each adds to the commands.
enum InstalledPlatforms {
  /// The platforms; a store or job that names none belongs to the first.
  @TaskLocal static var all: [any PlatformCommands] = [EngageCommands(), DeltaDNACommands(), UnityCommands()]

  /// Returns the commands of the platform whose events the store holds.
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
