import ArgumentParser
import BatchFoundation
import EngageRules
import FoundationEssentials

struct LinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link",
    abstract: "Print which route takes a link, why the others do not, and what reaches campaigns.",
    discussion: """
      Without --routes only the query is read. Findings about the route file go to stderr; a file that cannot be used \
      ends with exit code 78.
      """)

  @Argument(help: "The link as it was recorded.")
  var url: String

  @Option(help: "A MobileDeepLinkingConfig.json.")
  var routes: String?

  @Option(help: "How to choose between routes that all match: literal-first, or file for the order of the file.")
  var routeOrder: RouteOrderPolicy = .literalFirst

  @Option(help: "A host whose http(s) links are read like links to the app; '*.' for all below a domain. Repeatable.")
  var ownDomain: [String] = []

  @OptionGroup var answer: AnswerOption

  func run() throws {
    let file = try routes.map(readRoutes)
    for note in file?.notes ?? [] where note.severity != .info { Streams.note(note.description.printable) }
    let options = LinkOptions(routeOrder: routeOrder, ownDomains: ownDomain)
    answer.format.tell(LinkReport(url, router: DeepLinkRouter(routes: file, options: options)).facts)
  }

  private func readRoutes(_ path: String) throws -> RouteFile {
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.read(path)
    } catch {
      Streams.note("\(path.printable): error: \(error.reason)")
      if case .system = error { throw ExitCode(.noInput) }
      throw ExitCode(.configuration)
    }
    do {
      return try RouteFile.read(bytes, name: path)
    } catch {
      for fault in error.faults { Streams.note(fault.description.printable) }
      throw ExitCode(.configuration)
    }
  }
}

extension RouteOrderPolicy: ExpressibleByArgument {}
