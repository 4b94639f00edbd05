import ArgumentParser
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

/// An installed platform as the value of an option.
struct PlatformName: ExpressibleByArgument {
  let commands: any PlatformCommands

  static var first: PlatformName { PlatformName(commands: InstalledPlatforms.all[0]) }

  /// All names in words.
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
