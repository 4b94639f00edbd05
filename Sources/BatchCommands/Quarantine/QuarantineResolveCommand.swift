import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchStore
import FoundationEssentials

struct QuarantineResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Dismiss quarantined lines: one, those of a reason, or those of a file.",
    discussion: """
      They are listed with --all only, and are not quarantined again when their file is read once more. Lines that were fixed in \
      their file need no command: the next run that reads the file settles them.
      """)

  @OptionGroup var options: StoreOptions<JobName>

  @Option(help: "The line with this number in 'quarantine list'.")
  var id: Int64?

  @Option(help: "All lines with this reason, such as invalid-json.")
  var reason: QuarantineReason?

  @Option(help: "All lines of this file.")
  var file: String?

  func validate() throws {
    guard [id != nil, reason != nil, file != nil].count(where: { $0 }) == 1 else {
      throw ValidationError("Give one of --id, --reason and --file.")
    }
  }

  func run() throws {
    try options.writing { store, _ in
      var ids: [Int64] = []
      let path = file.map { PathText.resolve($0, in: FileManager.default.currentDirectoryPath) }
      try store.quarantine.forEachLine(all: false) { entry in
        let isMeant =
          if let id { entry.id == id } else if let reason { entry.line.reason == reason } else {
            [file, path].contains { $0?.utf8.elementsEqual(entry.line.place.file.utf8) ?? false }
          }
        if isMeant { ids.append(entry.id) }
      }
      if let id, ids.isEmpty {
        throw UnknownName(
          kind: "quarantined line", name: "\(id)",
          hint: "or it waits no more; 'engage-batch quarantine list' has those that do")
      }
      try store.quarantine.resolve(ids, as: .dismissed)
      options.answer.format.tell(["dismissed": .number(ids.count)]) {
        Streams.note(ids.count.counted("line was dismissed", "lines were dismissed"))
      }
      if ids.isEmpty { throw ExitCode(.noInput) }
    }
  }
}
