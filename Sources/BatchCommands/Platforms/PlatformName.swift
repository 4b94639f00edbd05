import ArgumentParser
import BatchPipeline

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
