import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchWire
import Engage
import EngageRules

struct XMLAPICommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "xmlapi",
    abstract: "Send one XMLAPI operation, or operations read from stdin, and print the answers as JSON.",
    discussion: """
      A parameter may be a path, such as CONTACT_LISTS/CONTACT_LIST_ID. A parameter without a value is an empty element. \
      Repeating an element of a repeatable group, such as SYNC_FIELDS/SYNC_FIELD/NAME, starts another group; repeating a column \
      of a table starts another row; anything else may be given only once. A fault returned by the service is printed on stdout \
      like an answer, and the exit code is 65. docs/reference/command-line.md has examples.

      Without an operation, stdin contains one per line, {"operation": ..., "param": ["NAME=VALUE"], "column": [...], "id": \
      ...}, and --ledger names the file that records the outcome of each: after an interruption, repeat the command to continue; \
      operations that were or may have been carried out are not sent again.
      """)

  @Argument(help: "The operation, such as SelectRecipientData; without it, operations are read from stdin.")
  var operation: String?

  @Option(help: ArgumentHelp("A parameter of the operation. Repeatable.", valueName: "NAME=VALUE"))
  var param: [ColumnValue] = []

  @Option(help: ArgumentHelp("A column with its value. Repeatable.", valueName: "NAME=VALUE"))
  var column: [ColumnValue] = []

  @OptionGroup var source: ConfigSource<JobOption>

  @Flag(help: "Send to an in-process sandbox; no account is needed.")
  var sandbox = false

  @Flag(help: "Print the envelope and send nothing.")
  var print = false

  @Option(
    help: ArgumentHelp("The file for the outcomes of operations from stdin; created if missing.", valueName: "file"))
  var ledger: String?

  @Option(
    help: ArgumentHelp(
      "Send 'failed' or 'in-doubt' operations from stdin again. Repeatable.",
      valueName: "failed|in-doubt")
  )
  var again: [OperationSeries.Again] = []

  @Flag(help: "Check the operations from stdin and count those that would be sent, but send nothing.")
  var dryRun = false

  func validate() throws {
    guard let operation else { return try validateSeries() }
    guard ledger == nil, again.isEmpty, !dryRun else {
      throw ValidationError("--ledger, --again and --dry-run are for operations from stdin.")
    }
    guard NamedOperation.names.contains(where: { $0.utf8.elementsEqual(operation.utf8) }) else {
      throw ValidationError(
        "'\(operation.printable)' is not an operation of the XMLAPI; names are case-sensitive\(Self.hint(operation))"
      )
    }
    do {
      _ = try named(operation)
    } catch {
      throw ValidationError("\(error.words(of: operation)).")
    }
  }

  private func validateSeries() throws {
    guard param.isEmpty, column.isEmpty else { throw ValidationError("--param and --column need an operation.") }
    if !print, ledger == nil { throw ValidationError("Give an operation, or --ledger for operations from stdin.") }
  }

  func run() throws {
    guard let operation else { return try runSeries() }
    let named = try named(operation)
    guard !print else { return try show(named) }
    let settings = try source.load(asksService: !sandbox).configuration.settings
    let outcome = try ServiceSession.run(settings, usesSandbox: sandbox) { $0.call(named.operation) }
    let report = XMLAPIReport(operation, outcome)
    Streams.data(report.document.text())
    if report.exit != .done { throw ExitCode(report.exit) }
  }

  private func show(_ operation: NamedOperation) throws {
    Streams.data(String(decoding: try Envelope.bytes([operation.call]), as: UTF8.self))
  }

  private func runSeries() throws {
    let settings = print ? nil : try source.load(asksService: !sandbox).configuration.settings
    let input = try OperationInput()
    guard let settings, let ledger else { return try input.forEach { try show($0.operation) } }
    var series = try OperationSeries(input, OperationLedger(ledger), again: again)
    guard !dryRun else { return Streams.note("\(series.counts.line); nothing was sent") }
    let interruption = try Signals.interruption()
    let monitor = TerminalMonitor(.auto)
    let stop: RunExit
    do {
      stop = try ServiceSession.run(settings, usesSandbox: sandbox) { service in
        try series.run(monitor, interruption, send: { service.call($0.operation) }, report: Self.report)
      }
    } catch let error as InterruptedError {
      stop = error.exit
    }
    monitor.finish()
    Streams.note(series.counts.line)
    if series.counts.left > 0 { Streams.note("Repeat the command to continue from here.") }
    if series.counts.inDoubt > 0 {
      Streams.note(
        "Operations in doubt may have been carried out: check the service, then remove them from the input, or send them "
          + "again with --again in-doubt.")
    }
    let exit = stop == .done ? series.counts.exit : stop
    if exit != .done { throw ExitCode(exit) }
  }

  /// - Parameter report: The report; nil for an operation whose outcome in an earlier command is unknown.
  private static func report(_ record: OperationRecord, _ report: XMLAPIReport?) {
    let document = report?.document ?? ["operation": .text(record.operation.name), "outcome": "inDoubt"]
    Streams.data(document.adding(["line": .number(record.line), "id": .text(record.key)]).canonicalText)
  }

  private func named(_ operation: String) throws(NamedOperation.Fault) -> NamedOperation {
    try NamedOperation(operation, parameters: param, columns: column)
  }

  private static func hint(_ operation: String) -> String {
    NearestName.question(about: operation, among: NamedOperation.names).map { "; \($0)" } ?? ""
  }
}

extension OperationSeries.Again: ExpressibleByArgument {}

extension ColumnValue: ExpressibleByArgument {
  /// Reads `NAME=VALUE`, split at the first `=`.
  package init?(argument: String) {
    guard let mark = argument.utf8.firstIndex(of: UInt8(ascii: "=")), mark > argument.startIndex else { return nil }
    self.init(String(argument[..<mark]), String(argument[argument.utf8.index(after: mark)...]))
  }
}

struct XMLAPIReport {
  let document: JSONNode
  let exit: RunExit

  init(_ operation: String, _ outcome: ServiceOutcome<XMLElement?>) {
    func document(_ word: String, _ key: String, _ value: JSONNode) -> JSONNode {
      ["operation": .text(operation), "outcome": .text(word), key: value]
    }
    let reason = JSONNode.text(outcome.reason)
    exit =
      switch outcome {
      case .answered: .done
      case .rejected: .inputRefused
      case .notSent, .refused, .unknown: outcome.stop?.exit ?? .serviceUnavailable
      }
    self.document =
      switch outcome {
      case .answered(let element): document("answered", "result", element.map(Self.node) ?? [:])
      case .rejected(let fault):
        document(
          "failed", "fault",
          [
            "id": .number(fault.id), "class": .text(fault.faultClass), "message": .text(fault.message),
            "meaning": .text(fault.meaning), "kind": .text(fault.kind.rawValue),
          ])
      case .notSent: document("notSent", "reason", reason)
      case .refused: document("refused", "reason", reason)
      case .unknown: document("unknown", "reason", reason)
      }
  }

  /// The names of elements that become an array even if they occur only once.
  private static let repeated: Set<String> = [
    "COLUMN", "CONTACT_LIST_ID", "FAILURE", "KEY_COLUMN", "LIST", "Mailing", "PARAMETER", "ROW", "SYNC_FIELD",
  ]

  /// Returns a string for an element that has only text, otherwise an object of attributes (as `@name`) and children.
  static func node(_ element: XMLElement) -> JSONNode {
    if element.elements.isEmpty, element.attributes.isEmpty { return .text(element.text) }
    var members = element.attributes.map { JSONMember(key: "@\($0.name)", value: .text($0.value)) }
    var order: [String] = []
    for child in element.elements where !order.contains(where: { child.isNamed($0) }) { order.append(child.name) }
    for name in order {
      let all = element.all(name).map(node)
      let isOne = all.count == 1 && !repeated.contains(name)
      members.append(JSONMember(key: name, value: isOne ? all[0] : .array(all)))
    }
    if element.elements.isEmpty, !element.text.isEmpty {
      members.append(JSONMember(key: "#text", value: .text(element.text)))
    }
    return JSONNode(.object(members))
  }
}
