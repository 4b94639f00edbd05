import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import DeltaDNACampaigns
import DeltaDNASchema
import EngageRules
import FoundationEssentials

/// `engage-batch config check`: everything that is wrong with a configuration, its job and its routes, at once.
struct ConfigCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a job, its configuration and its routes, and print all findings at once.",
    discussion: "Exit code 78 when something is wrong; warnings alone leave it at 0.")

  @OptionGroup var source: ConfigSource

  @Option(help: "text, with findings on stderr; or json, with findings on stdout.")
  var format: OutputFormat = .text

  func run() throws {
    let findings = ConfigFindings(source)
    switch format {
    case .text:
      for line in findings.lines { Streams.note(line) }
      if findings.exit == .done { Streams.note(findings.summary) }
    case .json: Streams.document(DocumentText.json(findings.document))
    }
    guard findings.exit == .done else { throw ExitCode(findings.exit) }
  }
}

/// What a check found.
struct ConfigFindings {
  private struct Finding {
    var file: String
    var line: Int?
    var severity: String
    var text: String
    /// As a line on stderr.
    var description: String
  }

  private var findings: [Finding] = []
  private(set) var exit = RunExit.done
  private var given = 0

  init(_ source: ConfigSource) {
    do {
      let (job, configuration) = try source.read()
      given = configuration.resolved.count { $0.chain.count > 1 }
      for warning in configuration.warnings { add(warning) }
      if let routes = job?.deepLinkRoutes { lint(routes) }
      if let schema = configuration.settings.deltaDNA.eventSchema { lint(schema: schema) }
      if let answer = configuration.settings.deltaDNA.sessionConfiguration { lint(sessionConfiguration: answer) }
      if let job { examine(job, configuration) }
    } catch {
      for fault in error.faults { add(fault) }
      if let routes = error.job?.deepLinkRoutes { lint(routes) }
      exit = error.exit
    }
  }

  var lines: [String] { findings.map(\.description) }

  var summary: String {
    "The configuration is good: \(given) settings given, \(findings.count { $0.severity == "warning" }) warnings."
  }

  var document: DocumentNode {
    let all = findings.map { finding in
      var members = [
        DocumentMember(key: "severity", node: DocumentNode(.string(finding.severity))),
        DocumentMember(key: "file", node: DocumentNode(.string(finding.file))),
      ]
      if let line = finding.line {
        members.append(DocumentMember(key: "line", node: DocumentNode(.number(String(line)))))
      }
      members.append(DocumentMember(key: "message", node: DocumentNode(.string(finding.text))))
      return DocumentNode(.dictionary(members))
    }
    return DocumentNode(
      .dictionary([
        DocumentMember(key: "good", node: DocumentNode(.boolean(exit == .done))),
        DocumentMember(key: "findings", node: DocumentNode(.array(all))),
      ]))
  }

  private mutating func add(_ fault: ConfigurationFault) {
    findings.append(
      Finding(
        file: fault.place.source, line: fault.place.line, severity: fault.severity.rawValue,
        text: fault.problem + (fault.hint.map { "; \($0)" } ?? ""), description: fault.description))
  }

  private mutating func add(_ note: RouteNote) {
    findings.append(
      Finding(
        file: note.file, line: note.place.line, severity: note.severity.rawValue, text: note.message,
        description: note.description))
  }

  /// What a run of the job would refuse, or would not find.
  private mutating func examine(_ job: Job, _ configuration: Configuration) {
    let folder = FileManager.default.currentDirectoryPath
    let place = Place(FilePath.shown(job.file, from: folder))
    let settings = configuration.settings
    func fault(_ severity: ConfigurationFault.Severity, _ problem: String, _ hint: String? = nil) -> ConfigurationFault
    {
      ConfigurationFault(place, severity, problem, hint: hint)
    }
    if job.destination == .engage, job.identity, settings.general.listId.isEmpty {
      refuse(
        fault(.error, "'identity' is true, but 'General.databaseListId' names no list", "set it, or ENGAGE_LIST_ID"))
    }
    let store = RunRequest.storePath(of: job)
    if Self.isFolder(store) == true {
      refuse(
        fault(.error, "'store' names '\(FilePath.shown(store, from: folder))', which is a folder, but must be a file"))
    }
    if let reports = job.reports, Self.isFolder(reports) == false {
      refuse(
        fault(
          .error, "'reports' names '\(FilePath.shown(reports, from: folder))', which is a file, but must be a folder"))
    }
    do {
      let files = try InputFiles.find(
        [.events: job.inputs.events, .notifications: job.inputs.notifications, .deepLinks: job.inputs.deepLinks],
        in: job.directory)
      for warning in files.warnings { add(fault(.warning, Self.problem("\(warning)"))) }
    } catch {
      // The inputs of a job may come later than its configuration.
      add(fault(.warning, Self.problem("\(error)"), "a run would end with exit code 66"))
    }
    for table in settings.augmentation.lookupTables {
      do {
        _ = try table.rows(shownFrom: job.directory)
      } catch {
        refuse(fault(.error, Self.problem("\(error)")))
      }
    }
    guard job.destination == .engage else { return }
    let needed = [
      (settings.connection.baseURL?.isEmpty ?? true, "Connection.baseUrl", "ENGAGE_BASE_URL"),
      (settings.connection.clientId?.isEmpty ?? true, "Connection.clientId", "ENGAGE_CLIENT_ID_FILE"),
      (settings.connection.clientSecret?.isEmpty ?? true, "Connection.secret", "ENGAGE_SECRET_FILE"),
      (settings.connection.refreshToken?.isEmpty ?? true, "Connection.refreshToken", "ENGAGE_REFRESH_TOKEN_FILE"),
    ]
    for (isMissing, setting, variable) in needed where isMissing {
      add(
        fault(
          .note, "'\(setting)' is not set, which a run that sends needs",
          "set \(variable) in its environment, or run with --sandbox"))
    }
  }

  /// Nil if there is nothing of that name.
  private static func isFolder(_ path: String) -> Bool? {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) ? isFolder : nil
  }

  /// The words of an error without the severity, which the finding has.
  private static func problem(_ words: String) -> String {
    for severity in ["error: ", "warning: "] where words.hasPrefix(severity) {
      return String(words.dropFirst(severity.count))
    }
    return words
  }

  private mutating func refuse(_ fault: ConfigurationFault) {
    add(fault)
    exit = .configuration
  }

  /// Looks at the route file of the job.
  private mutating func lint(_ path: String) {
    guard let (name, bytes) = read(path, "the route file") else { return }
    do {
      for note in try RouteFile.read(bytes, name: name).notes where note.severity != .info { add(note) }
    } catch {
      for fault in error.faults { add(fault) }
      exit = .configuration
    }
  }

  /// Looks at the event schema of the configuration.
  private mutating func lint(schema path: String) {
    guard let (name, bytes) = read(path, "the event schema") else { return }
    for problem in EventSchema.inspect(bytes).inspection.problems {
      let place = problem.path.isEmpty ? "" : "\(problem.path): "
      add(ConfigurationFault(Place(name, line: problem.line), place + problem.reason))
      exit = .configuration
    }
  }

  /// Looks at the saved answer of Engage that the configuration names.
  private mutating func lint(sessionConfiguration path: String) {
    guard let (name, bytes) = read(path, "the session configuration") else { return }
    do {
      for note in try SessionConfiguration.read(bytes, name: name).notes { add(note) }
    } catch {
      for fault in error.faults { add(fault) }
      exit = .configuration
    }
  }

  private mutating func add(_ note: SessionConfigurationNote) {
    add(
      ConfigurationFault(
        Place(note.file, line: note.line), note.severity == .error ? .error : .warning, note.message))
  }

  private mutating func read(_ path: String, _ what: String) -> (name: String, bytes: [UInt8])? {
    let name = FilePath.shown(path, from: FileManager.default.currentDirectoryPath)
    do {
      return (name, Array(try Data(contentsOf: URL(filePath: path))))
    } catch {
      add(ConfigurationFault(Place(name), "\(what) cannot be read"))
      exit = .configuration
      return nil
    }
  }
}
