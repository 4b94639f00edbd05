import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchMaps
import BatchPipeline
import BatchReport
import BatchWire
import EventSchemas
import FoundationEssentials

struct ConfigCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a job with its configuration, routes and maps, and print all findings at once.",
    discussion:
      """
      Exit code 78 for errors, 66 if only inputs are missing, 0 if there are only warnings and notes. Missing settings that \
      only calls to the service need, such as credentials, are reported as notes; with --real, a missing \
      General.databaseListId is an error if 'identity' is true.
      """
  )

  @OptionGroup var source: ConfigSource<JobName>
  @OptionGroup var window: WindowOptions

  @Flag(help: "Check as for runs with --sandbox, which use their own store and need no account.")
  var sandbox = false

  @Flag(help: "Check as for runs against the service, including all settings that they need.")
  var real = false

  @Option(help: "text (findings on stderr) or json (findings on stdout).")
  var format: OutputFormat = .text

  func validate() throws {
    if source.job == nil, window.added(to: CommandLineChanges()) != CommandLineChanges() {
      throw ValidationError("--from, --to and --as-of need a job.")
    }
    if sandbox, real { throw ValidationError("Give either --sandbox or --real, not both.") }
  }

  func run() throws {
    let findings = ConfigFindings(source, window, sandbox ? .sandbox : real ? .service : .any)
    format.show(findings.facts)
    guard findings.exit == .done else { throw ExitCode(findings.exit) }
  }
}

extension ConfigurationFault {
  /// Returns an error message without its severity, which a finding states separately.
  static func problem(_ words: String) -> String {
    for severity in ["error: ", "warning: "] where words.hasPrefix(severity) {
      return String(words.dropFirst(severity.count))
    }
    return words
  }

  /// Returns the findings for a file. `findings` receives the file's bytes and the name to use in messages. An
  /// unreadable file is itself a finding.
  static func lint(
    _ path: String, _ what: String,
    _ findings: (_ bytes: [UInt8], _ name: String) throws(FileError) -> [ConfigurationFault]
  ) -> [ConfigurationFault] {
    let name = PathText.shown(path, from: FileManager.default.currentDirectoryPath)
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.read(path)
    } catch {
      let reason = if case .system = error { "" } else { ": \(error.reason)" }
      return [ConfigurationFault(Place(name), "\(what) cannot be read\(reason)")]
    }
    do {
      return try findings(bytes, name)
    } catch {
      return error.faults
    }
  }

  static func lint(schema: String, of subject: EventSchema.Subject) -> [ConfigurationFault] {
    lint(schema, "the event schema") { bytes, name in
      EventSchema.inspect(bytes, name: name, of: subject).inspection.problems.map(\.fault)
    }
  }
}

struct ConfigFindings {
  private var findings: [ConfigurationFault] = []
  private(set) var exit = RunExit.done
  private var given = 0

  enum Runs { case any, sandbox, service }

  private let runs: Runs

  init(_ source: ConfigSource<JobName>, _ times: WindowOptions? = nil, _ runs: Runs = .service) {
    self.runs = runs
    do {
      let (job, configuration) = try source.read(times, asksService: runs != .sandbox)
      given = configuration.resolved.count { $0.chain.count > 1 }
      findings += configuration.warnings
      for platform in InstalledPlatforms.all { add(platform.lint(job, configuration)) }
      if let job { examine(job, configuration) }
    } catch {
      findings += error.faults
      for platform in InstalledPlatforms.all { add(platform.lint(error.job, nil)) }
      exit = error.exit
    }
  }

  var facts: Facts {
    let all = findings.map { finding in
      (["severity": .text(finding.severity.rawValue), "file": .text(finding.place.source)] as JSONNode)
        .adding(["line": finding.place.line.map { .number($0) }, "message": .text(finding.text)])
    }
    var facts: Facts = ["good": .flag(exit == .done), "findings": .array(all)]
    facts.note(findings.map(\.description))
    if exit == .done {
      let warnings = findings.count { $0.severity == .warning }.counted("warning")
      facts.note("The configuration is valid: \(given.counted("setting")) given, \(warnings).")
    }
    return facts
  }

  /// Adds a finding for everything that a run of the job would refuse or fail to find.
  private mutating func examine(_ job: Job, _ configuration: Configuration) {
    let folder = FileManager.default.currentDirectoryPath
    let place = Place(of: job)
    let platform = Platforms.installed[job.destination].map { InstalledPlatforms.of($0) }
    add(platform?.refusals(of: job, configuration) ?? [])
    let store = RunRequest.storePath(of: job, inSandbox: runs == .sandbox)
    if Self.isFolder(store) == true {
      let shown = PathText.shown(store, from: folder)
      add([ConfigurationFault(place, "'store' must name a file, but '\(shown)' is a folder")])
    }
    if let reports = job.reports, Self.isFolder(reports) == false {
      let shown = PathText.shown(reports, from: folder)
      add([ConfigurationFault(place, "'reports' must name a folder, but '\(shown)' is a file")])
    }
    do {
      let maps = try JobMaps(job)
      findings += maps.warnings
      add(maps.faults(configuration.settings))
      let files = try InputFiles.find(job, ObjectStorage(configuration.settings))
      if let own = platform?.platform {
        add(maps.types.compactMap { Self.fault(of: $0, own) })
        findings += try Self.ineffectiveParts(of: files, own.vocabulary).map { ConfigurationFault(place, .warning, $0) }
      }
      for warning in files.warnings {
        findings.append(ConfigurationFault(place, .warning, ConfigurationFault.problem("\(warning)")))
      }
    } catch InputError.missing(let inputs, _) {
      // Only a run may continue without required inputs.
      for input in inputs {
        findings.append(ConfigurationFault(place, .error, "\(input), but the job requires this input"))
      }
      if exit == .done { exit = .noInput }
    } catch let error as ConfigurationErrors {
      add(error.faults)
    } catch {
      findings.append(ConfigurationFault(place, .error, ConfigurationFault.problem("\(error)")))
      if exit == .done { exit = RunExit(of: error) }
    }
    guard runs != .sandbox else { return }
    let missing = platform?.platform.missingSettings(configuration.settings, for: job) ?? []
    add(
      missing.map {
        var fault = ConfigurationFault($0, in: job)
        if runs == .any { fault.severity = .note }
        return fault
      })
  }

  /// Returns a fault if the named record type does not belong to the job's platform; otherwise nil.
  private static func fault(of type: ForeignMap.NamedType, _ platform: any Platform) -> ConfigurationFault? {
    func types(_ platform: any Platform) -> [String] { platform.vocabulary.dictionary.values["type"] ?? [] }
    let own = types(platform)
    if own.contains(type.name) { return nil }
    if let other = Platforms.installed.all.first(where: { types($0).contains(type.name) }) {
      return ConfigurationFault(
        type.place, .warning,
        "'type' is '\(type.name)', a record type of '\(other.name)' that '\(platform.name)' ignores")
    }
    return ConfigurationFault(
      type.place, "'type' is '\(type.name)', which is not a record type",
      hint: NearestName.question(about: type.name, among: own) ?? "the types are \(own.joined(separator: ", "))")
  }

  /// Describes the parts of maps that have no effect on the first records of their files.
  private static func ineffectiveParts(of files: InputFiles, _ vocabulary: RecordVocabulary) throws -> [String] {
    var seen: Set<String> = []
    return try files.files.flatMap { file -> [String] in
      guard !file.isPipe, let map = file.map, let foreign = map.map as? ForeignMap, foreign.isFile,
        seen.insert(map.identity).inserted
      else { return [] }
      var records: [[UInt8]] = []
      try file.tryMap(vocabulary, limit: MapProposal.recordLimit) { records.append($0.raw) }
      guard !records.isEmpty else { return [] }
      let shown = PathText.shown(foreign.name, from: FileManager.default.currentDirectoryPath)
      let first = records.count == 1 ? "first record" : "first \(records.count.grouped) records"
      let looked = "tried on the \(first) of \(file.original)"
      return foreign.ineffectiveParts(for: records).map { "map '\(shown)', \(looked): \($0)" }
    }
  }

  /// Returns whether the path is a folder; nil if nothing exists there.
  private static func isFolder(_ path: String) -> Bool? {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) ? isFolder : nil
  }

  /// Adds findings that are not listed yet; platforms that share files find the same problems.
  private mutating func add(_ more: [ConfigurationFault]) {
    for finding in more where !findings.contains(finding) {
      findings.append(finding)
    }
    if more.contains(where: { $0.severity == .error }) { exit = .configuration }
  }
}
