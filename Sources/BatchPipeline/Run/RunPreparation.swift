package import BatchConfiguration
package import BatchFoundation
package import BatchIngest
import BatchStore
package import BatchWire
import FoundationEssentials

/// The preparation of a run before anything is created; invalid requests are refused here.
struct RunPreparation {
  /// The service; nil if the run does not call it.
  var service: (any PlatformService)?
  var options: ProcessingStage.Options
  /// The input files; empty if the run does not read its job's inputs.
  var files: InputFiles
  /// The lines for `--findings-out`; nil if not requested.
  var findings: OrderedLines?
}

extension Pipeline {
  func prepare() throws -> RunPreparation {
    let connects = request.mode.sends || request.planOut != nil
    let service = connects ? try platform.service(of: request.context) : nil
    let findings = try request.findingsOut.map { _ in try OrderedLines() }
    let options = try processingOptions(findings)
    let files = request.mode.readsInputs ? try inputs() : .none
    return RunPreparation(
      service: try service.map { try following(request.planFile, $0, files) }, options: options, files: files,
      findings: findings)
  }

  private func inputs() throws -> InputFiles {
    if let part = request.part { return part.files }
    let faults = try JobMaps(request.job).faults(request.settings)
    guard faults.isEmpty else { throw ConfigurationErrors(faults) }
    let files = try InputFiles.find(request.job, request.storage, allowsMissing: request.allowsMissing)
    for warning in files.warnings { monitor.note("\(warning)") }
    if let pipe = files.pipe, let reader = request.secondReader {
      throw CommandError(
        .configuration,
        "\(pipe.path.description.printable): error: a pipe can be read only once, but \(reader) reads inputs more than once; nothing was read. Write its contents to a file first"
      )
    }
    return files
  }

  /// Returns the options for processing records, from the job's inputs or any others.
  ///
  /// - Throws: errors in files and settings that the rules need.
  func processingOptions(_ findings: OrderedLines? = nil) throws -> ProcessingStage.Options {
    var context = request.context
    context.findings = findings
    return ProcessingStage.Options(
      vocabulary: request.vocabulary, rules: try platform.rules(for: context), asOf: request.asOf,
      ingest: ingestOptions, decider: DeciderOptions(limits: platform.limits(request.settings)),
      explain: request.explain)
  }

  var ingestOptions: IngestOptions { request.ingestOptions }
}

extension RunRequest {
  var ingestOptions: IngestOptions {
    let ingest = settings.ingest
    var options = IngestOptions(
      window: job.window, maxLineBytes: ingest.maxLineBytes,
      memoryLimit: ingest.memoryLimit, workers: ingest.workers > 0 ? ingest.workers : Processors.available)
    options.smallInput = 8 << 20
    return options
  }
}

extension ObjectStorage {
  /// Creates the storage of a run, with credentials from the environment.
  package convenience init(_ settings: Settings) {
    self.init(
      settings.storage, environment: ProcessInfo.processInfo.environment, backoff: Backoff(settings),
      budget: settings.networking.retryBudget
    ) { try HTTPSettings(settings.connection) }
  }
}

extension RunRequest {
  /// The reason that inputs would be read a second time; nil if they are read only once.
  fileprivate var secondReader: String? {
    if processesAnew { return "a comparison" }
    if isOneOfMany { return "a backfill" }
    if planOut != nil { return "--online-plan" }
    if planFile != nil { return "--plan" }
    return settings.ingest.lateRecords == .quarantine ? "Ingest.lateRecords with 'quarantine'" : nil
  }
}

extension InputFiles {
  /// Finds the files that a job reads now.
  ///
  /// - Parameters:
  ///   - storage: where addresses are looked up.
  ///   - allowsMissing: whether required inputs may be missing.
  /// - Throws: `InputError`, `StorageError`; `ConfigurationErrors` for maps that cannot be used.
  package static func find(
    _ job: Job, _ storage: any RemoteStorage, allowsMissing: Bool = false
  ) throws -> InputFiles {
    let maps = try JobMaps(job)
    return try find(
      InputKind.allCases.flatMap { kind in
        job.inputs[kind].map { InputPattern(kind, $0, map: maps[$0]) }
      }, in: job.directory, storage: storage, allowsMissing: allowsMissing)
  }
}
