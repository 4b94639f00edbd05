import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import EventSchemas
import FoundationEssentials

struct SchemaInferCommand<Of: SchemaSubject>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "infer",
      abstract: "Print a schema of the events that a run with default settings produces from recorded exports.",
      discussion: Of.subject == .game
        ? """
        Events with findings are omitted. Each name is given with its number of occurrences; a parameter is required if all \
        events of the same name have it. Values that no single type covers get the type MIXED, which 'deltadna schema check' \
        rejects; replace it with a type.
        """
        : """
        Each name is given with its number of occurrences; a parameter is required if all events of the same name have it. \
        Check the types and the required parameters before you set General.eventSchema. Events that are pending until a mobile \
        user id is known are omitted.
        """)
  }

  @Argument(help: "Recorded exports: files, folders or patterns, read like the 'events' inputs of a job.")
  var exports: [String]

  func run() throws {
    let inference = try InferenceRun<Of>(exports).inference()
    Streams.data(inference.document.text())
  }
}

/// Infers a schema from the events that a dry run produces from exports.
private struct InferenceRun<Of: SchemaSubject> {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "engage-batch-\(UUID().uuidString)")
  private let exports: [String]

  init(_ exports: [String]) { self.exports = exports }

  func inference() throws -> SchemaInference {
    // A missing file is reported here, because the run's message would name a job that does not exist.
    let patterns = exports.map { InputPattern(.events, $0) }
    _ = try InputFiles.find(patterns, in: FileManager.default.currentDirectoryPath, isOfJob: false)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer {
      // A folder that cannot be removed is left in the system's temporary folder, readable only to its owner.
      try? FileManager.default.removeItem(at: folder)
    }
    let events = folder.appending(path: "events.ndjson").path
    var request = try RunRequest(
      loaded: LoadedJob(job: job, configuration: configuration), of: .installed, mode: .dryRun(sends: false), now: .now)
    request.eventsOut = events
    let outcome = try Pipeline(request, monitor: TerminalMonitor(.none)).run()
    let quarantined = outcome.report.summary.records.quarantined
    if quarantined > 0 {
      Streams.note(
        quarantined.counted("line is not a record and was skipped", "lines are not records and were skipped"))
    }
    guard outcome.exit == .done else {
      throw CommandError(outcome.exit, outcome.report.failure ?? "the exports could not be read")
    }
    return try Self.read(events, request.settings)
  }

  private var job: Job {
    let directory = FileManager.default.currentDirectoryPath
    var job = Job(file: "\(directory)/schema-infer", destination: Of.platform.name)
    job.name = "schema-infer"
    job.inputs.events = exports.map { JobInput(path: PathText.resolve($0, in: directory)) }
    job.store = folder.appending(path: "none.sqlite").path
    return job
  }

  /// The default settings with an unlimited time window, because an event too old to be sent is still an event.
  private var configuration: Configuration {
    get throws {
      let loader = ConfigurationLoader(
        environment: [:], currentDirectory: FileManager.default.currentDirectoryPath, destinations: [], now: .now)
      var configuration = try loader.load(files: [])
      configuration.settings.deltaDNA.oldestEvent = Milliseconds(Instant.last.milliseconds)
      configuration.settings.deltaDNA.furthestAhead = Milliseconds(Instant.last.milliseconds)
      return configuration
    }
  }

  private static func read(_ path: String, _ settings: Settings) throws -> SchemaInference {
    var inference = SchemaInference()
    var reader = JSONReader()
    var tape = JSONTape()
    let data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
    try unsafe data.withUnsafeBytes { raw in
      let bytes = unsafe raw.bindMemory(to: UInt8.self)
      for line in unsafe bytes.split(separator: UInt8(ascii: "\n")).map(\.indices) {
        tape.truncate(to: 0)
        _ = try unsafe reader.read(UnsafeBufferPointer(rebasing: bytes[line]), onto: &tape)
        Of.add(tape.view(at: 0), settings, to: &inference)
      }
    }
    return inference
  }
}
