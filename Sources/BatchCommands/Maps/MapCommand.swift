import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchMaps
import BatchPipeline
import FoundationEssentials

struct MapCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "map", abstract: "Show a map, or try it on an export.",
    subcommands: [MapShowCommand.self, MapTryCommand.self])
}

struct MapShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print the map of a preset, or list the presets.",
    discussion: "docs/maps.md describes the records that each preset reads, and the results.")

  @Argument(help: "The name of a preset. (default: list all)")
  var name: String?

  func run() throws {
    guard let name else { return Preset.all.forEach { Streams.data($0.name) } }
    guard let preset = Preset.named(name) else {
      let names = Preset.all.map(\.name)
      let near =
        NearestName.question(about: name, among: names)
        ?? "the presets are \(names.joined(separator: ", "))"
      throw ValidationError("there is no preset '\(name.printable)'; \(near)")
    }
    Streams.document(preset.text + "\n")
  }
}

struct MapTryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "try",
    abstract:
      "Print the results of a map for the first records of an export, and the members that the map does not read.",
    discussion:
      "The records are printed in plain text and may contain personal data. Exit code 65 if any of them would be quarantined."
  )

  @Argument(help: "A preset, or a file with a map.")
  var map: String

  @Argument(help: "The export.")
  var file: String

  @Option(help: "The kind of records: events, notifications or deepLinks.")
  var kind: StreamCommand.Kind = .events

  @Option(help: "The platform that the records are for: \(PlatformName.all).")
  var destination = PlatformName.first

  @Option(help: "The maximum number of records per file.")
  var limit = 10

  func run() throws {
    let folder = FileManager.default.currentDirectoryPath
    let platform = destination.commands.platform
    var (records, refused) = (0, 0)
    let library = MapLibrary(environment: ProcessInfo.processInfo.environment, currentDirectory: folder)
    let (map, warnings) = try library.load(
      MapName.isFile(self.map) ? PathText.resolve(self.map, in: folder) : self.map)
    for warning in warnings { Streams.note("\(warning)") }
    let pattern = InputPattern(kind.input, file, map: InputMap(map, identity: map.digest))
    for input in try InputFiles.find([pattern], in: folder, isOfJob: false).files {
      try input.tryMap(platform.vocabulary, limit: limit) { trial in
        records += 1
        Streams.data("\(file):\(trial.number)  \(String(decoding: trial.raw, as: UTF8.self))")
        for outcome in trial.outcomes {
          switch outcome {
          case .line(let line, let fault):
            Streams.data("  becomes   \(line)")
            if let fault {
              Streams.data("  rejected  \(fault)")
              refused += 1
            }
          case .leftOut(let reason): Streams.data("  left out  \(reason)")
          case .refused(let fault):
            Streams.data("  rejected  \(fault)")
            refused += 1
          }
        }
        for warning in trial.warnings { Streams.data("  warning   \(warning.kind): \(warning.detail)") }
        let unread = map.unreadMembers(of: trial.raw)
        if !unread.isEmpty { Streams.data("  not read  \(unread.joined(separator: ", "))") }
      }
    }
    if records == 0 { Streams.note("\(file.printable): no records were found") }
    if refused > 0 { throw ExitCode(.inputRefused) }
  }
}
