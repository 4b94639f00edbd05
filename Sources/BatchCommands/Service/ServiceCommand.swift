import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport

struct ServiceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "service", abstract: "Prepare the service for a job.",
    subcommands: [ServicePrepareCommand.self])
}

struct ServicePrepareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prepare", abstract: "Create the columns and the audit table that 'doctor' finds missing.",
    discussion: """
      Columns are added to the list with their types; --audit-table creates the audit table with its key, and prints the \
      settings to change. Existing columns and tables are not changed. After an interruption, repeat the command to continue. Exit \
      code 78: a problem remains that only a person can fix.
      """)

  @OptionGroup var job: JobWithSettings

  @Flag(help: "Create an audit table with its key if AuditRecord.auditRecordListId is not set.")
  var auditTable = false

  @Flag(help: "Show the columns and the table that would be created, and create nothing.")
  var dryRun = false

  @Flag(help: "Prepare an in-process sandbox; no account is needed.")
  var sandbox = false

  @OptionGroup var answer: AnswerOption

  func run() throws {
    let loaded = try JobSource.load(job.job, job.changes, asksService: !sandbox)
    var request = try RunRequest(loaded: loaded, of: .installed, mode: .run, now: .now)
    if sandbox { request.useSandbox() }
    let options = PreparationOptions(isRehearsal: dryRun, makesAuditTable: auditTable)
    let report = try InstalledPlatforms.of(request.platform).prepare(request, options)
    answer.format.show(report.facts(isRehearsal: dryRun))
    for problem in report.problems { Streams.note("error: \(problem)".printable) }
    if !report.problems.isEmpty { throw ExitCode(.configuration) }
  }
}

/// The objects that were created at a service, or that would be.
struct PreparationReport {
  /// The steps. `action` is one word; `place` is the list or table.
  var steps: [(action: String, place: String, column: String, type: String)] = []
  /// The settings that must be added to the configuration.
  var settings: [(name: String, value: String)] = []
  /// Problems that only a person can fix.
  var problems: [String] = []
  var notes: [String] = []

  func facts(isRehearsal: Bool) -> Facts {
    var facts: Facts = [
      "dryRun": .flag(isRehearsal),
      "steps": .array(
        steps.map {
          ["action": .text($0.action), "place": .text($0.place), "column": .text($0.column), "type": .text($0.type)]
        }),
      "settings": .object(settings.map { ($0.name, .text($0.value)) }), "problems": .texts(problems),
    ]
    for step in steps {
      let key = step.action == "addKeyColumn" ? ", the key" : ""
      facts.addLine(step.place, step.column, step.type + key, isRehearsal ? "would be made" : "made")
    }
    facts.note(settings.map { "set \($0.name) to \($0.value) in the configuration" } + notes)
    if steps.isEmpty, problems.isEmpty, notes.isEmpty { facts.note("nothing is missing") }
    return facts
  }
}

struct PreparationOptions {
  /// Whether only to report what would be created.
  var isRehearsal: Bool
  /// Whether to create an audit table if the configuration names none.
  var makesAuditTable: Bool
}
