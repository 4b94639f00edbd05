import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import BatchWire

/// A file that a command uses: its path, and the name of its purpose for messages, such as `--events-out` or `the
/// store`.
package struct FileUse: Sendable {
  package var name: String
  package var path: String

  package init(_ name: String, _ path: String) {
    self.name = name
    self.path = path
  }

  /// Refuses outputs that would overwrite files that the same command uses; called before anything is opened. Existing
  /// files are compared by identity regardless of name, and files that do not exist yet by location.
  ///
  /// - Throws: ``CommandError`` for the first output that is one of the others, or an earlier output.
  package static func check(_ outputs: [FileUse], against others: [FileUse]) throws {
    var taken: [FilePlace: FileUse] = [:]
    // A file that cannot be examined cannot be overwritten either; opening it reports why.
    for use in others { if let place = try? FilePlace(use.path) { taken[place] = taken[place] ?? use } }
    for output in outputs {
      guard let place = try? FilePlace(output.path) else { continue }
      if let other = taken[place] { throw output.conflict(with: other) }
      taken[place] = output
    }
  }

  fileprivate func conflict(with other: FileUse) -> CommandError {
    CommandError(
      .usage,
      "\(name): error: '\(path.printable)' is \(other.name) "
        + "('\(other.path.printable)'), which would be overwritten; nothing was read or written. Name another file")
  }
}

extension RunRequest {
  private var outputs: [FileUse] {
    let named = [
      ("--events-out", eventsOut), ("--findings-out", findingsOut), ("--decisions-out", decisionsOut),
      ("--online-plan", planOut), ("--summary", summaryOut), ("--metrics", metricsOut), ("--otlp", otlpOut),
      ("--junit", junitOut),
    ]
    return named.compactMap { name, path in path.map { FileUse(name, $0) } }
  }

  package static func storeFiles(_ store: String) -> [FileUse] {
    ["", "-wal", "-shm", "-journal", ".lock"].map { FileUse("the store", store + $0) }
  }

  /// The files that a run reads or keeps, except its inputs.
  private var files: [FileUse] {
    var files = [FileUse("the job", job.file)]
    files += job.configuration.map { FileUse("a configuration file of the job", $0) }
    files += loaded.configuration.files.map {
      FileUse("the file that '\($0.setting)' names in the configuration", $0.path)
    }
    files += job.tests.map { FileUse("a test file of the job", $0) }
    files += JobMaps.files(of: job).map { FileUse("a map of the job", $0) }
    for (name, path) in [("the routes of the job", job.deepLinkRoutes), ("--plan", planFile)] {
      if let path { files.append(FileUse(name, path)) }
    }
    files += Self.storeFiles(storePath)
    if usesSandbox {
      files.append(FileUse("the state file of the sandbox", Self.sandboxState(beside: storePath)))
    }
    return files
  }

  /// The job's input files that exist, in any mode; missing ones are reported when inputs are read.
  private var inputs: [FileUse] {
    InputKind.allCases.flatMap { kind in
      InputFiles.paths(job.inputs[kind].flatMap(\.patterns), in: job.directory)
        .map { FileUse("an input", $0) }
    }
  }

  /// Refuses outputs that would overwrite files that the command reads, keeps or writes, including inputs. Call it
  /// before anything is opened and before anything else can fail.
  ///
  /// - Parameters:
  ///   - more: outputs in addition to those of the request.
  ///   - others: files in addition to those of the request.
  /// - Throws: ``CommandError`` for a conflict or a name like `x.gz`, ``StoreError/address(_:)``; errors of the storage
  ///   for an address.
  package func checkOutputs(
    _ more: [FileUse] = [], against others: [FileUse] = []
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
      job.reports.flatMap { ReportFolder.role(of: output.path, below: $0) }.map { FileUse($0, output.path) }
    }
    try FileUse.check(outputs, against: files + others + inputs + reports)
  }

  /// Refuses objects that cannot be written, and those that a pattern of the job would read.
  private func checkAddresses(_ outputs: [FileUse]) throws {
    let reports = job.reports.map { FileUse("--report", "\($0)\($0.hasSuffix("/") ? "" : "/")report.html") }
    let patterns = InputKind.allCases.flatMap { job.inputs[$0].flatMap(\.patterns) }
    for output in outputs + [reports].compactMap({ $0 }) where RemoteAddress(output.path) != nil {
      _ = try storage.writer(of: output.path, if: nil) {}
      if let input = patterns.first(where: { RemoteAddress($0) != nil && InputPattern.finds(output.path, by: $0) }) {
        throw output.conflict(with: FileUse("an input", input))
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
