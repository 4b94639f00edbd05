package import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchPlatform

/// `engage-batch partition`: the first step of a run in parts.
package struct PartitionCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "partition",
    abstract: "Distribute the lines of a job's inputs by device, for decisions on several machines.",
    discussion: """
      Each part can be decided anywhere ('decide'); 'collect' brings the results into one store, and 'post' sends them. Lines keep \
      their bytes and their place. The folder appears when it is whole; an equal one that stands there already is left as it is. Files \
      that only another program can reach are listed ('--files'), handed over in standard input one by one ('--only'), on any machine, \
      and put together ('--pieces').
      """)

  @OptionGroup var choice: JobChoice

  @OptionGroup var future: FutureOptions
  @OptionGroup var missing: MissingOptions

  @Option(help: ArgumentHelp("How many parts, 1 to \(Partitioning.mostParts).", valueName: "N"))
  var parts: Int

  @Option(help: ArgumentHelp("The folder that is made.", valueName: "folder"))
  var out: String

  @Option(
    help: ArgumentHelp(
      "The partition whose results this one continues, of as many parts; 'decide' then asks for --state-in.",
      valueName: "folder"))
  var after: String?

  @Option(
    help: ArgumentHelp(
      "Files in place of the job's inputs: a JSON array of objects with 'path', 'kind' and 'bytes' or 'lines'.",
      valueName: "list"))
  var files: String?

  @Option(
    help: ArgumentHelp(
      "Read this file of the list, from 0, from standard input, and make a piece of the partition.", valueName: "K"))
  var only: Int?

  @Option(
    help: ArgumentHelp(
      "Put the pieces of all files of the list together, which are in this folder by the number of the file.",
      valueName: "folder"))
  var pieces: String?

  package init() {}

  package func validate() throws {
    guard (files == nil) == (only == nil && pieces == nil), only == nil || pieces == nil else {
      throw ValidationError("--files takes either --only or --pieces.")
    }
    if only != nil, after != nil { throw ValidationError("--after belongs to the command with --pieces.") }
    if !(1...Partitioning.mostParts ~= parts) {
      throw ValidationError("--parts takes a number from 1 to \(Partitioning.mostParts).")
    }
  }

  package func run() throws {
    let session = try PartSession()
    let loaded = try JobSource.load(choice.job, choice.changes, at: session.now)
    try session.conduct(files: only == nil ? parts : 0) {
      var request = try RunRequest(loaded: loaded, of: .installed, mode: .noUpload, now: session.now)
      request.allowsFuture = future.allowFuture
      request.allowsMissing = missing.allowMissing
      let list = try files.map { try FileList($0) }
      if let list, let only {
        let file = try FilePartitioning(
          request, list, only: only, parts: parts, to: out, monitor: session.monitor,
          interruption: session.interruption)
        let (folder, wasThere) = try file.run()
        let lines = folder.piece.lines.reduce(0, +).counted("record")
        return "\(lines) of file \(only): \(folder.path)\(wasThere ? ", which was there already" : "")"
      }
      let source = list.flatMap { list in pieces.map { Partitioning.Source.pieces(of: list, in: $0) } } ?? .inputs
      let partition = try Partitioning(
        request, parts: parts, of: source, after: after, to: out, monitor: session.monitor,
        interruption: session.interruption)
      let (folder, wasThere) = try partition.run()
      let lines = folder.manifest.lines.counted("record")
      return "\(lines) in \(parts.counted("part")): \(folder.path)\(wasThere ? ", which was there already" : "")"
    }
  }
}
