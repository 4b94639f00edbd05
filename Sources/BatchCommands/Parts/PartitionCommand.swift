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
      their bytes and their place. The folder appears when it is whole; an equal one that stands there already is left as it is.
      """)

  @OptionGroup var choice: JobChoice

  @Option(help: ArgumentHelp("How many parts, 1 to \(Partitioning.mostParts).", valueName: "N"))
  var parts: Int

  @Option(help: ArgumentHelp("The folder that is made.", valueName: "folder"))
  var out: String

  @Option(
    help: ArgumentHelp(
      "The partition whose results this one continues, of as many parts; 'decide' then asks for --state-in.",
      valueName: "folder"))
  var after: String?

  package init() {}

  package func validate() throws {
    if !(1...Partitioning.mostParts ~= parts) {
      throw ValidationError("--parts takes a number from 1 to \(Partitioning.mostParts).")
    }
  }

  package func run() throws {
    let session = try PartSession()
    let loaded = try JobSource.load(choice.job, choice.changes, at: session.now)
    try session.conduct {
      let request = try RunRequest(loaded: loaded, of: .installed, mode: .noUpload, now: session.now)
      let partition = try Partitioning(
        request, parts: parts, after: after, to: out, monitor: session.monitor, interruption: session.interruption)
      let (folder, wasThere) = try partition.run()
      let lines = folder.manifest.lines.counted("record")
      return "\(lines) in \(parts.counted("part")): \(folder.path)\(wasThere ? ", which was there already" : "")"
    }
  }
}
