import BatchConfiguration
package import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import BatchWire

/// The error for an output that would overwrite a file that the same command uses; thrown before anything is opened.
package struct OutputConflict: RunError, Equatable, CustomStringConvertible {
  /// A path and the name of its purpose for messages, such as `--events-out` or `the store`.
  package struct Use: Equatable, Sendable {
    package var name: String
    package var path: String

    package init(_ name: String, _ path: String) {
      self.name = name
      self.path = path
    }
  }

  package var output: Use
  package var other: Use

  package var exit: RunExit { .usage }

  package var description: String {
    "\(output.name): error: '\(output.path.printable)' is \(other.name) "
      + "('\(other.path.printable)'), which would be overwritten; nothing was read or written. Name another file"
  }

  /// Compares existing files by identity regardless of name, and files that do not exist yet by location.
  ///
  /// - Throws: ``OutputConflict`` for the first output that is one of the others, or an earlier output.
  package static func check(_ outputs: [Use], against others: [Use]) throws {
    var taken: [FilePlace: Use] = [:]
    // A file that cannot be examined cannot be overwritten either; opening it reports why.
    for use in others { if let place = try? FilePlace(use.path) { taken[place] = taken[place] ?? use } }
    for output in outputs {
      guard let place = try? FilePlace(output.path) else { continue }
      if let other = taken[place] { throw OutputConflict(output: output, other: other) }
      taken[place] = output
    }
  }
}

extension RunRequest {
  private var outputs: [OutputConflict.Use] {
    let named = [
      ("--events-out", eventsOut), ("--findings-out", findingsOut), ("--decisions-out", decisionsOut),
      ("--online-plan", planOut), ("--summary", summaryOut), ("--metrics", metricsOut), ("--otlp", otlpOut),
      ("--junit", junitOut),
    ]
    return named.compactMap { name, path in path.map { OutputConflict.Use(name, $0) } }
  }

  /// Returns the files of a store.
  package static func storeFiles(_ store: String) -> [OutputConflict.Use] {
    ["", "-wal", "-shm", "-journal", ".lock"].map { OutputConflict.Use("the store", store + $0) }
  }

  /// The files that a run reads or keeps, except its inputs.
  private var files: [OutputConflict.Use] {
    var files = [OutputConflict.Use("the job", job.file)]
    files += job.configuration.map { OutputConflict.Use("a configuration file of the job", $0) }
    files += loaded.configuration.files.map {
      OutputConflict.Use("the file that '\($0.setting)' names in the configuration", $0.path)
    }
    files += job.tests.map { OutputConflict.Use("a test file of the job", $0) }
    files += JobMaps.files(of: job).map { OutputConflict.Use("a map of the job", $0) }
    for (name, path) in [("the routes of the job", job.deepLinkRoutes), ("--plan", planFile)] {
      if let path { files.append(OutputConflict.Use(name, path)) }
    }
    files += Self.storeFiles(storePath)
    if usesSandbox {
      files.append(OutputConflict.Use("the state file of the sandbox", Self.sandboxState(beside: storePath)))
    }
    return files
  }

  /// The job's input files that exist, in any mode; missing ones are reported when inputs are read.
  private var inputs: [OutputConflict.Use] {
    InputKind.allCases.flatMap { kind in
      InputFiles.paths(job.inputs[kind].flatMap(\.patterns), in: job.directory)
        .map { OutputConflict.Use("an input", $0) }
    }
  }

  /// Refuses outputs that would overwrite files that the command reads, keeps or writes, including inputs. Call it
  /// before anything is opened and before anything else can fail.
  ///
  /// - Parameters:
  ///   - more: outputs in addition to those of the request.
  ///   - others: files in addition to those of the request.
  /// - Throws: ``OutputConflict``, ``CommandError`` for a name like `x.gz`, ``StoreError/address(_:)``; errors of the
  ///   storage for an address.
  package func checkOutputs(
    _ more: [OutputConflict.Use] = [], against others: [OutputConflict.Use] = []
  ) throws {
    if RemoteAddress(storePath) != nil { throw StoreError.address(storePath) }
    let outputs = outputs + more
    if let output = outputs.first(where: { $0.path.lowercased().hasSuffix(".gz") }) {
      throw CommandError(
        .usage,
        "\(output.name): error: '\(output.path.printable)' is named like a gzip file, but the output is not compressed; "
          + "drop '.gz', or pass - and pipe the output into gzip")
    }
    try checkAddresses(outputs)
    // If all outputs are streams or devices, there is nothing to compare.
    guard outputs.contains(where: { (try? FilePlace($0.path)) != nil }) else { return }
    let reports = outputs.compactMap { output in
      job.reports.flatMap { ReportFolder.role(of: output.path, below: $0) }.map { OutputConflict.Use($0, output.path) }
    }
    try OutputConflict.check(outputs, against: files + others + inputs + reports)
  }

  /// Refuses objects that cannot be written, and those that a pattern of the job would read.
  private func checkAddresses(_ outputs: [OutputConflict.Use]) throws {
    let reports = job.reports.map { OutputConflict.Use("--report", "\($0)\($0.hasSuffix("/") ? "" : "/")report.html") }
    let patterns = InputKind.allCases.flatMap { job.inputs[$0].flatMap(\.patterns) }
    for output in outputs + [reports].compactMap({ $0 }) where RemoteAddress(output.path) != nil {
      _ = try storage.writer(of: output.path, if: nil) {}
      if let input = patterns.first(where: { RemoteAddress($0) != nil && InputPattern.finds(output.path, by: $0) }) {
        throw OutputConflict(output: output, other: OutputConflict.Use("an input", input))
      }
    }
  }

  /// - Throws: ``CommandError`` if answers to questions are requested as output, but the job's service gives none.
  func refuseDecisionsOfNobody() throws {
    guard decisionsOut != nil, platform.decisionLines == nil else { return }
    throw CommandError(
      .usage,
      "--decisions-out: error: a job whose destination is '\(platform.name)' requests no decisions, so there is nothing to write; omit the option"
    )
  }
}
