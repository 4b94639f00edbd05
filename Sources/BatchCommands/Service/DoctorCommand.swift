import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import FoundationEssentials

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract:
      "Check a job's configuration, credentials, lists, columns and endpoints, and say which setting to change.",
    discussion: """
      Nothing is changed and no event is sent. The exit code is that of the first error: 78 configuration, 77 credentials, \
      76 TLS or protocol, 69 the service is not reached.
      """)

  @OptionGroup var job: StoredJob

  @Option(help: "text, with findings on stderr; or json, with findings on stdout.")
  var format: OutputFormat = .text

  func run() throws {
    var findings = DoctorFindings()
    findings.addVersions()
    do {
      let loaded = try JobSource.loader(asksService: !job.sandbox).load(job: job.named.job, job.changes)
      findings.add(loaded.configuration.warnings)
      findings.addSecretFiles(ProcessInfo.processInfo.environment)
      let request = try job.request(.run, loaded)
      findings.addInputs(request.job)
      findings.addStore(request)
      if let outbox = request.job.outbox, !job.sandbox {
        findings.ok("connection", "no service is asked: requests go to the folder '\(outbox.printable)'")
      } else {
        try examine(request, &findings)
      }
    } catch let error as ConfigurationErrors {
      findings.add(error.faults)
    } catch {
      throw Failures.report(error)
    }
    format.tell(findings.facts)
    if findings.exit != .done { throw ExitCode(findings.exit) }
  }

  private func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws {
    do {
      try request.refuseMissingSettings()
      try InstalledPlatforms.of(request.platform)?.examine(request, &findings)
    } catch let error as ServiceSettingsError {
      for problem in error.problems {
        // Each problem begins with the name of its setting.
        let setting = problem.prefix { $0 != " " && $0 != ":" }
        findings.error("connection", problem, setting: String(setting), exit: .configuration)
      }
    }
  }
}
