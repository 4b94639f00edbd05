import ArgumentParser
import BatchFoundation
import BatchMaps
import BatchPipeline
import BatchReport
import FoundationEssentials

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a job, its configuration and a small export into a folder; they run at once.",
    discussion: """
      Nothing is overwritten: where one of the files is there already, none is written (73). With --from the job reads an export that \
      is there: the preset that fits is named in it, or a map is proposed by the look of the values and written beside it. What the first \
      records become is printed, which may be personal data; 65 where a device, time or name is missing or a guess.
      """)

  @Argument(help: "The folder; it is made if it is not there.")
  var folder = "."

  @Option(
    help:
      "\(PlatformName.all). (default: that of the records of --from, or \(PlatformName.first.defaultValueDescription))")
  var platform: PlatformName?

  @Option(parsing: .upToNextOption, help: "Exports that the job is to read, as somebody else wrote them.")
  var from: [String] = []

  @Option(help: "The column that has the device.") var device: String?

  @Option(help: "The column that has the time; twice for one with the day and one with the time of day.")
  var time: [String] = []

  @Option(help: "The column that has the name of the event.") var name: String?

  @Option(help: "The column that has the campaign of a push.") var campaign: String?

  @Option(help: "The zone of times that name none, or a column that has it.") var zone: String?

  mutating func validate() throws {
    let hints = [device, name, campaign, zone].contains { $0 != nil } || !time.isEmpty
    if hints, from.isEmpty { throw ValidationError("--device, --time, --name, --campaign and --zone go with --from.") }
    // The folder may follow the exports.
    if from.count > 1, folder == ".", let last = from.last, !last.contains("*"),
      !FileManager.default.fileExists(atPath: last)
    {
      folder = from.removeLast()
    }
  }

  func run() throws {
    try Failures.reported {
      var hints = MapProposal.Hints()
      (hints.device, hints.time, hints.name, hints.campaign, hints.zone) = (device, time, name, campaign, zone)
      let export =
        from.isEmpty
        ? nil : try FirstExport(from, platform: self.platform?.commands, folder: folder, hints: hints)
      for note in export?.notes ?? [] { Streams.note(note) }
      let platform = export?.platform ?? self.platform?.commands ?? PlatformName.first.commands
      let job = FirstJob(
        name: jobName, platform: platform, day: Zone.utc.startOfDay(.now, plus: -1), export: export)
      let files = job.files
      for file in files { try NewFile.refuse(at: path(of: file)) }
      for file in files {
        try NewFile.write(file.text, to: path(of: file))
        Streams.note("Wrote \(path(of: file))")
      }
      let mapPath = path(of: FirstJob.File(path: MapProposal.file, text: ""))
      if let toDo = export?.toDo {
        Streams.note(
          "\(from[0].printable): error: \(toDo.replacing(FirstExport.mapPlace, with: mapPath)) (docs/exports.md)")
        throw ExitCode(.inputRefused)
      }
      // `map try` does not know entries.
      if let export, let map = export.map, export.record == nil {
        let shown = map == MapProposal.file ? mapPath : map
        let kind = export.kind == .events ? [] : ["--kind", export.kind.name]
        let named = platform.platform.name
        let destination = named == PlatformName.first.commands.platform.name ? [] : ["--destination", named]
        let command = ShellCommand(["map", "try", shown, from[0]] + kind + destination)
        Streams.note("To see what the map makes of it: \(command.text)")
      }
      Streams.note("To try it: \(ShellCommand(["run", path(of: files[0]), "--sandbox"]).text)")
    }
  }

  /// The name of the folder, with `-` for characters other than ASCII letters, digits, `.`, `_` and `-`; else `first`.
  private var jobName: String {
    let folder = URL(filePath: folder).standardizedFileURL.lastPathComponent
    let name = String(PathText.component(folder).drop { $0 == "." })
    return name.contains { $0 != "-" } ? name : "first"
  }

  private func path(of file: FirstJob.File) -> String { folder == "." ? file.path : "\(folder)/\(file.path)" }
}
