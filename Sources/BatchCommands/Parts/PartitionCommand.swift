import ArgumentParser
import BatchFoundation
import BatchPipeline

struct PartitionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "partition",
    abstract: "Distribute the lines of a job's inputs by device, to process them on several machines.",
    discussion: """
      'decide' processes each part on any machine, 'collect' brings the results into one store, and 'post' sends them. Lines \
      are copied byte for byte and keep their positions. The folder appears only when it is complete; an identical existing \
      folder is kept. Files that only another program can read are listed with --files and passed to 'partition' on \
      stdin with --only, on any machine; --pieces makes a partition from the resulting pieces, which stay where they are.
      """)

  @OptionGroup var named: JobWithSettings
  @OptionGroup var window: WindowOptions

  @OptionGroup var future: FutureOptions
  @OptionGroup var missing: MissingOptions

  @Option(help: ArgumentHelp("The number of parts, 1 to \(Partitioning.mostParts).", valueName: "N"))
  var parts: Int

  @Option(help: ArgumentHelp("The folder to create.", valueName: "folder"))
  var out: String

  @Option(
    help: ArgumentHelp(
      "The previous partition of the chain, with the same number of parts; 'decide' then requires --state-in.",
      valueName: "folder"))
  var after: String?

  @Option(
    help: ArgumentHelp(
      "A list of files to read instead of the job's inputs: a JSON array of objects with 'path', 'kind' and 'bytes' or 'lines', or an object with 'first' and 'files' for a section of that array.",
      valueName: "list"))
  var files: String?

  @Option(
    help: ArgumentHelp(
      """
      Read file K of the list (from 0), or files K to L in turn, from stdin, and make a single piece of the partition.
      """, valueName: "K[-L]"))
  var only: FileNumbers?

  @Option(
    help: ArgumentHelp(
      "Make the partition from the pieces in this folder, which must cover all files of the list; each piece is named by the number of its first file.",
      valueName: "folder"))
  var pieces: String?

  func validate() throws {
    guard (files == nil) == (only == nil && pieces == nil), only == nil || pieces == nil else {
      throw ValidationError("--files requires either --only or --pieces, and each of these requires --files.")
    }
    if only != nil, after != nil {
      throw ValidationError("--after cannot be combined with --only; give it with --pieces.")
    }
    if !(1...Partitioning.mostParts ~= parts) {
      throw ValidationError("--parts must be from 1 to \(Partitioning.mostParts).")
    }
  }

  func run() throws {
    let session = try PartSession()
    let loaded = try JobSource.load(named.job, window.added(to: named.changes), at: session.now)
    try session.conduct(files: pieces == nil ? parts : 0) {
      var request = try RunRequest(loaded: loaded, of: .installed, mode: .noUpload, now: session.now)
      request.allowsFuture = future.allowFuture
      request.allowsMissing = missing.allowMissing
      let list = try files.map { try FileList($0) }
      if let list, let only {
        let (folder, wasThere) = try session.pipeline(request).partition(list, only: only.range, parts: parts, to: out)
        let lines = folder.piece.parts.reduce(0) { $0 + $1.lines }.counted("record")
        return "\(lines) of \(only): \(folder.path)\(wasThere ? ", which already existed" : "")"
      }
      let source = list.flatMap { list in pieces.map { Partitioning.Source.pieces(of: list, in: $0) } } ?? .inputs
      let (folder, wasThere) = try session.pipeline(request).partition(source, parts: parts, after: after, to: out)
      let lines = folder.manifest.lines.counted("record")
      return "\(lines) in \(parts.counted("part")): \(folder.path)\(wasThere ? ", which already existed" : "")"
    }
  }
}

/// A range of files in a list, given as one number, or as the first and the last.
struct FileNumbers: ExpressibleByArgument, CustomStringConvertible {
  let range: Range<Int>

  init?(argument: String) {
    let numbers = argument.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard let first = numbers[0], let last = numbers[numbers.count - 1], numbers.count <= 2, 0...last ~= first,
      last < .max
    else { return nil }
    range = first..<last + 1
  }

  var description: String {
    range.count == 1 ? "file \(range.lowerBound)" : "files \(range.lowerBound) to \(range.upperBound - 1)"
  }
}
