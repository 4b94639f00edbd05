import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchPlatform
import BatchReport
import FoundationEssentials

/// `engage-batch init`: a job, its configuration and a small export, that run at once.
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a job, its configuration and a small export into a folder; they run at once.",
    discussion: """
      Nothing is overwritten: where one of the files is there already, none is written (73). With --from the job reads an export that \
      is there: the preset that fits is named in it, or a map is proposed and written beside it; 65 where no device, time or name is found.
      """)

  @Argument(help: "The folder; it is made if it is not there.")
  var folder = "."

  @Option(
    help:
      "\(PlatformName.all). (default: that of the records of --from, or \(PlatformName.first.defaultValueDescription))")
  var platform: PlatformName?

  @Option(help: "An export that the job is to read, as somebody else wrote it.")
  var from: String?

  func run() throws {
    try Failures.reported {
      let export = try from.map { try FirstExport($0, platform: self.platform?.commands, folder: folder) }
      for note in export?.notes ?? [] { Streams.note(note) }
      let platform = export?.platform ?? self.platform?.commands ?? PlatformName.first.commands
      let job = FirstJob(
        name: name, platform: platform, day: Zone.utc.startOfDay(.now, plus: -1), export: export)
      let files = job.files
      for file in files { try NewFile.refuse(at: path(of: file)) }
      for file in files {
        try NewFile.write(file.text, to: path(of: file))
        Streams.note("Wrote \(path(of: file))")
      }
      if let from, let missing = export?.missing, !missing.isEmpty {
        let map = path(of: FirstJob.File(path: FirstExport.mapFile, text: ""))
        Streams.note(
          "\(from.printable): error: nothing looks like \(missing.joined(separator: ", ")); fill in what is empty in "
            + "\(map) (docs/maps.md)")
        throw ExitCode(.inputRefused)
      }
      if let from, let export, let map = export.map {
        let shown = map == FirstExport.mapFile ? path(of: FirstJob.File(path: map, text: "")) : map
        let kind = export.kind == .events ? [] : ["--kind", export.kind.name]
        let named = platform.platform.name
        let destination = named == PlatformName.first.commands.platform.name ? [] : ["--destination", named]
        let command = ShellCommand(["map", "try", shown, from] + kind + destination)
        Streams.note("To see what the map makes of it: \(command.text)")
      }
      Streams.note("To try it: \(ShellCommand(["run", path(of: files[0]), "--sandbox"]).text)")
    }
  }

  /// That of the folder, with `-` for what is not an ASCII letter, a digit, `.`, `_` or `-`; `first` where nothing is left.
  private var name: String {
    let folder = URL(filePath: folder).standardizedFileURL.lastPathComponent
    let name = String(PathText.component(folder).drop { $0 == "." })
    return name.contains { $0 != "-" } ? name : "first"
  }

  private func path(of file: FirstJob.File) -> String { folder == "." ? file.path : "\(folder)/\(file.path)" }
}
