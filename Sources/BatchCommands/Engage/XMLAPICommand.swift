package import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchJSON
import BatchPipeline
import BatchXML
import EngageAPI

/// `engage-batch xmlapi`: one operation, for an operator.
package struct XMLAPICommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "xmlapi",
    abstract: "Send one operation of the XMLAPI and print its answer as JSON.",
    discussion: """
      A parameter may be a path, such as CONTACT_LISTS/CONTACT_LIST_ID; one without a value is an empty element. Where an element \
      of a repeatable group comes again, such as SYNC_FIELDS/SYNC_FIELD/NAME, another group begins, and where a column of a table \
      comes again, another row; anything else may be given once. A fault of \
      the service ends with exit code 65, and stands on stdout like an answer. docs/xmlapi.md has examples.
      """)

  @Argument(help: "The operation, such as SelectRecipientData.")
  var operation: String

  @Option(help: ArgumentHelp("A parameter of the operation. Repeatable.", valueName: "NAME=VALUE"))
  var param: [NamedValue] = []

  @Option(help: ArgumentHelp("A column with its value. Repeatable.", valueName: "NAME=VALUE"))
  var column: [NamedValue] = []

  @OptionGroup var source: ConfigSource

  @Flag(help: "Send to a sandbox inside the process; no account is needed.")
  var sandbox = false

  @Flag(help: "Print the envelope and send nothing.")
  var print = false

  package init() {}

  package func validate() throws {
    guard NamedOperation.names.contains(where: { $0.utf8.elementsEqual(operation.utf8) }) else {
      throw ValidationError(
        "'\(operation.printable)' is not an operation of the XMLAPI\(hint); names are case-sensitive.")
    }
    do {
      _ = try named()
    } catch let fault as NamedOperation.Fault {
      switch fault {
      case .invalidName(let name): throw ValidationError("'\(name.printable)' cannot be the name of a parameter.")
      case .repeated(let name):
        throw ValidationError("'\(name.printable)' is given twice, and \(operation) takes it once.")
      }
    }
  }

  package func run() throws {
    let named = try named()
    guard !print else {
      try Failures.reported { Streams.data(String(decoding: try Envelope.bytes([named.call]), as: UTF8.self)) }
      return
    }
    let settings = try source.load().configuration.settings
    let outcome = try Failures.reported {
      try ServiceSession.run(settings, usesSandbox: sandbox) { $0.call(named) }
    }
    let report = XMLAPIReport(operation, outcome)
    Streams.data(report.document.text())
    if report.exit != .done { throw ExitCode(report.exit) }
  }

  private func named() throws -> NamedOperation {
    try NamedOperation(
      operation, parameters: param.map { Column($0.name, $0.value) }, columns: column.map { Column($0.name, $0.value) })
  }

  private var hint: String {
    let wanted = operation.lowercased()
    return NamedOperation.names.first { $0.lowercased() == wanted }.map { "; did you mean '\($0)'?" } ?? ""
  }
}

/// `NAME=VALUE` on the command line, cut at the first `=`.
struct NamedValue: ExpressibleByArgument, Equatable {
  var name: String
  var value: String

  init?(argument: String) {
    guard let mark = argument.utf8.firstIndex(of: UInt8(ascii: "=")), mark > argument.startIndex else { return nil }
    name = String(argument[..<mark])
    value = String(argument[argument.utf8.index(after: mark)...])
  }
}
