import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import BatchStore
import FoundationEssentials
import Glibc

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract:
      "Check a job's configuration, credentials, lists, columns and endpoints, and say which setting to change.",
    discussion: """
      Nothing is changed and no event is sent. The exit code is that of the first error, such as 78 configuration, 77 \
      credentials, 76 TLS or protocol, 69 service unreachable.
      """)

  @OptionGroup var job: StoredJob

  @Option(help: "text (findings on stderr) or json (findings on stdout).")
  var format: OutputFormat = .text

  func run() throws {
    var findings = DoctorFindings()
    findings.addVersions()
    do {
      let loaded = try JobSource.loader(asksService: !job.sandbox).load(job: job.named.job, job.changes)
      findings.add(loaded.configuration.warnings)
      findings.addSecretFiles(ProcessInfo.processInfo.environment)
      let request = try job.request(.run, loaded)
      findings.addInputs(request)
      findings.addStore(request)
      if let outbox = request.job.outbox, !job.sandbox {
        findings.ok("connection", "no service is used: requests are written to the folder '\(outbox.printable)'")
      } else {
        try examine(request, &findings)
      }
    } catch let error as ConfigurationErrors {
      findings.add(error.faults)
    }
    format.show(findings.facts)
    if findings.exit != .done { throw ExitCode(findings.exit) }
  }

  private func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws {
    do {
      try request.refuseMissingSettings()
      try InstalledPlatforms.of(request.platform).examine(request, &findings)
    } catch let error as ServiceSettingsError {
      for problem in error.problems {
        // Each problem begins with the name of its setting.
        let setting = problem.prefix { $0 != " " && $0 != ":" }
        findings.error("connection", problem, setting: String(setting), exit: .configuration)
      }
    }
  }
}

/// The findings of `doctor`, in the order of the checks.
struct DoctorFindings {
  enum Severity: String { case ok, warning, error }

  struct Finding: Equatable {
    var severity: Severity
    /// The subject: `configuration`, `credentials`, `list` and so on.
    var check: String
    var message: String
    /// The setting to change; nil if there is none.
    var setting: String?
    /// The exit code that a run would end with; nil unless the finding is an error.
    var exit: RunExit?
  }

  var all: [Finding] = []

  mutating func ok(_ check: String, _ message: String) {
    all.append(Finding(severity: .ok, check: check, message: message))
  }

  mutating func warning(_ check: String, _ message: String, setting: String? = nil) {
    all.append(Finding(severity: .warning, check: check, message: message, setting: setting))
  }

  mutating func error(_ check: String, _ message: String, setting: String? = nil, exit: RunExit) {
    all.append(Finding(severity: .error, check: check, message: message, setting: setting, exit: exit))
  }

  /// The exit code of the first error.
  var exit: RunExit { all.lazy.compactMap(\.exit).first ?? .done }

  var facts: Facts {
    var facts: Facts = [
      "good": .flag(exit == .done),
      "findings": .array(
        all.map {
          [
            "severity": .text($0.severity.rawValue), "check": .text($0.check), "message": .text($0.message),
            "setting": .text($0.setting),
          ]
        }),
    ]
    facts.note(
      all.map { finding in
        let isNamed = finding.setting.map { finding.message.hasPrefix($0) } ?? true
        let setting = isNamed ? "" : finding.setting.map { " (\($0))" } ?? ""
        return "\(finding.severity.rawValue): \(finding.check): \(finding.message)\(setting)"
      })
    return facts
  }
}

// MARK: - Checks without the service

extension DoctorFindings {
  mutating func addVersions() {
    for library in [("engage-batch", Versions.product)] + Versions.libraries {
      ok("version", "\(library.0) \(library.1)")
    }
  }

  /// Adds the faults of the configuration, or a positive finding if there are none.
  mutating func add(_ faults: [ConfigurationFault]) {
    if faults.isEmpty { ok("configuration", "the job and its configuration are valid") }
    add(faults, as: "configuration")
  }

  mutating func add(_ faults: [ConfigurationFault], as check: String) {
    for fault in faults {
      // The finding states the severity itself.
      let text = "\(fault.place): \(fault.text)"
      switch fault.severity {
      case .error: error(check, text, exit: .configuration)
      default: warning(check, text)
      }
    }
  }

  /// Adds a positive finding for each secret file that an environment variable names and whose permissions are safe.
  mutating func addSecretFiles(_ environment: [String: String]) {
    for (variable, setting) in EnvironmentVariables.all {
      guard let path = environment[variable + "_FILE"], !path.isEmpty,
        SettingsSchema.current.setting(named: setting)?.isSecret == true
      else { continue }
      // Problems with the file are reported where it is read.
      guard FileManager.default.fileExists(atPath: path), !FileContents.isOpenToOthers(path) else { continue }
      ok("secrets", "the file named by \(variable)_FILE has safe permissions")
    }
  }

  /// Adds a finding about the inputs. Missing inputs are only a warning, because exports may arrive later.
  mutating func addInputs(_ request: RunRequest) {
    do {
      let files = try InputFiles.find(request.job, request.storage)
      for warning in files.warnings { self.warning("inputs", ConfigurationFault.problem("\(warning)")) }
      ok("inputs", "\(files.files.count.counted("file"))")
    } catch {
      warning(
        "inputs",
        "\(ConfigurationFault.problem("\(error)")); a run now would end with exit code \(RunExit(of: error).rawValue)"
      )
    }
  }

  /// Checks the settings of a service without calling it, because the service accepts only events and every call has an
  /// effect.
  ///
  /// - Throws: ``ServiceSettingsError``.
  mutating func addConnection(of request: RunRequest) throws {
    var context = RunContext(
      job: request.job, settings: request.settings, mode: .run, asOf: request.asOf, now: request.now)
    if request.usesSandbox { context.sandboxAddress = "http://127.0.0.1" }
    let service = try request.platform.connect(context)
    ok("connection", "all settings for calls to \(service.origin) are set; no call was made")
  }

  mutating func addStore(_ request: RunRequest) {
    let path = request.storePath
    do {
      let store = try EventStore.openReading(path, format: request.platform.storeFormat)
      try store.check(against: request.storeDestination, jobFile: request.job.file)
      let pending = try store.ledger.pendingChunks()
      // Operators' identity commands are recorded as runs without configuration or report.
      let last = try store.runs.all().last { $0.finished != nil && !$0.configurationDigest.isEmpty }
        .flatMap { try store.runs.report(of: $0.id) }
      try store.close()
      let estimate = UploadEstimate(
        events: pending.events, requests: pending.chunks,
        request.platform.deliverySettings(request.settings))
      ok("store", "\(path): good; \(estimate.words)")
      // A report in another release's format is ignored.
      if let choice = last.flatMap({ try? StoredReport.report($0) })?.consentChoice,
        request.loaded.configuration.resolved(named: "Recipient.consentRecords")?.given.layer == .defaults
      {
        warning("consent", "in the last run, \(choice)", setting: "Recipient.consentRecords")
      }
    } catch StoreError.missing {
      ok("store", "there is no store at \(path) yet; a run creates it")
    } catch {
      self.error("store", "\(error)", exit: RunExit(of: error))
    }
  }
}
