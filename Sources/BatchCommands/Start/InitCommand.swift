import ArgumentParser
import BatchFoundation
import BatchMaps
import BatchPipeline
import BatchReport
import FoundationEssentials

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a job, its configuration and a small export into a folder, ready to run.",
    discussion: """
      Nothing is overwritten: if one of the files exists, none is written (exit code 73). With --from, the job reads existing \
      exports: it names the preset that fits, or a map is inferred from the values and written next to the job. The results for \
      the first records are printed and may contain personal data; exit code 65 if something must be corrected \
      first, such as a missing or guessed device, time or name.
      """)

  @Argument(help: "The folder; created if missing.")
  var folder = "."

  @Option(
    help:
      "The platform: \(PlatformName.all). (default: inferred from --from, else \(PlatformName.first.defaultValueDescription))"
  )
  var platform: PlatformName?

  @Option(parsing: .upToNextOption, help: "Exports for the job to read, in their original form.")
  var from: [String] = []

  @Option(help: "The column with the device id.") var device: String?

  @Option(help: "The column with the time; give two columns if the day and the time of day are separate.")
  var time: [String] = []

  @Option(help: "The column with the name of the event.") var name: String?

  @Option(help: "The column with the campaign of a push notification.") var campaign: String?

  @Option(help: "The time zone for times without one, or the column with the time zone.") var zone: String?

  mutating func validate() throws {
    if !hints.isEmpty, from.isEmpty {
      throw ValidationError("--device, --time, --name, --campaign and --zone need --from.")
    }
    // The last argument of `--from` may be the folder.
    if from.count > 1, folder == ".", let last = from.last, !last.contains("*"),
      !FileManager.default.fileExists(atPath: last)
    {
      folder = from.removeLast()
    }
  }

  private var hints: MapProposal.Hints {
    var hints = MapProposal.Hints()
    (hints.device, hints.time, hints.name, hints.campaign, hints.zone) = (device, time, name, campaign, zone)
    return hints
  }

  func run() throws {
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
      throw CommandError(
        .inputRefused,
        "\(from[0].printable): error: \(toDo.replacing(FirstExport.mapPlace, with: mapPath)) (docs/exports.md)")
    }
    // `map try` cannot apply the `record` of an entry in `inputs`.
    if let export, let map = export.map, export.record == nil {
      let shown = map == MapProposal.file ? mapPath : map
      let kind = export.kind == .events ? [] : ["--kind", export.kind.name]
      let named = platform.platform.name
      let destination = named == PlatformName.first.commands.platform.name ? [] : ["--destination", named]
      let command = ShellCommand(["map", "try", shown, from[0]] + kind + destination)
      Streams.note("To preview the records that the map produces: \(command.text)")
    }
    Streams.note("To try the job: \(ShellCommand(["run", path(of: files[0]), "--sandbox"]).text)")
  }

  /// The name of the folder, with `-` for characters other than ASCII letters, digits, `.`, `_` and `-`; `first` if
  /// only `-` would remain.
  private var jobName: String {
    let folder = URL(filePath: folder).standardizedFileURL.lastPathComponent
    let name = String(PathText.component(folder).drop { $0 == "." })
    return name.contains { $0 != "-" } ? name : "first"
  }

  private func path(of file: FirstJob.File) -> String { folder == "." ? file.path : "\(folder)/\(file.path)" }
}

/// A runnable job for people to adapt to their needs.
struct FirstJob {
  struct File: Equatable {
    /// The path relative to the folder.
    var path: String
    var text: String
  }

  struct Content {
    var identity: Bool
    var configuration: String
    /// The time of day, and all other members of a record.
    var records: [(time: String, fields: String)]
    /// The type of a record with an app-defined name.
    var ownEvent: String
    var types: [String] = []
  }

  /// The name of the job and of its store.
  var name: String
  var platform: any PlatformCommands
  /// The day of the recorded events, as its midnight in UTC.
  var day: Instant
  /// The export to read; nil for sample records that are written along with the job.
  var export: FirstExport?

  var files: [File] {
    let files = [
      File(path: "job.json", text: job + "\n"), File(path: "config.json", text: platform.firstJob.configuration + "\n"),
    ]
    guard let export else { return files + [File(path: "exports/\(date).ndjson", text: records)] }
    return files + (export.document.map { [File(path: MapProposal.file, text: $0)] } ?? [])
  }

  /// The job's members for its inputs and their window.
  private var inputs: String {
    guard let export else {
      return """
        "inputs": { "events": ["exports/*.ndjson"] },
          "window": { "from": "today-P7D", "to": "now", "zone": "UTC" },
        """
    }
    let entries = export.paths.map(JSONString.quoted).map { path in
      let words = [("map", export.map), ("record", export.record)].compactMap { word, value in
        value.map { ", \"\(word)\": \(JSONString.quoted($0))" }
      }
      return words.isEmpty ? path : "{ \"path\": \(path)\(words.joined()) }"
    }
    return "\"inputs\": { \"\(export.kind.name)\": [\(entries.joined(separator: ", "))] },"
  }

  private var date: String { String(day.rfc3339.prefix(10)) }

  private var job: String {
    """
    {
      "name": "\(name)",
      "destination": "\(platform.platform.name)",
      "configuration": ["config.json"],
      \(inputs)
      "identity": \(platform.firstJob.identity),
      "store": "var/\(name).sqlite",
      "reports": "var/reports"
    }
    """
  }

  private var records: String {
    platform.firstJob.records.map {
      #"{"deviceId":"phone-1","timestamp":"\#(date)T\#($0.time)Z",\#($0.fields)}"# + "\n"
    }.joined()
  }
}
