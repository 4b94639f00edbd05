import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport

/// The second step of a run in parts.
struct DecideCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decide",
    abstract: "Apply the rules to one part of a partition, on any machine, without a store or service.",
    discussion: """
      Reads a part and the states from its previous result, and writes a folder with events, states and quarantined lines. The \
      command can be repeated and run concurrently: the folder appears only when it is complete.
      """)

  @OptionGroup var job: JobWithSettings

  @Option(help: ArgumentHelp("The folder that 'partition' created.", valueName: "folder"))
  var partition: String

  @Option(help: ArgumentHelp("The number of the part, from 0.", valueName: "K"))
  var part: Int

  @Option(
    help: ArgumentHelp(
      "The result folder of the same part in the previous partition; required if the partition was made with --after.",
      valueName: "folder"))
  var stateIn: String?

  @Option(help: ArgumentHelp("The folder to create.", valueName: "folder"))
  var out: String

  func run() throws {
    let session = try PartSession()
    let folder = try PartitionFolder(partition)
    let changes = folder.changes(job.changes)
    let loaded = try JobSource.load(job.job, changes, at: session.now)
    try session.conduct {
      let request = try RunRequest(loaded: loaded, of: .installed, mode: .noUpload, now: session.now)
      let (result, report, wasThere) = try session.pipeline(request).decide(part, of: folder, from: stateIn, to: out)
      let summary = report.summary
      return "part \(part) of \(folder.manifest.parts.count): \(summary.records.read.counted("record")), "
        + "\(summary.records.quarantined) quarantined, \(summary.eventCount.counted("event")): \(result.path)"
        + (wasThere ? ", which already existed" : "")
    }
  }
}

/// The user interface for a step of a run in parts: progress, a closing line, and the exit code.
struct PartSession {
  let now = Instant.now
  let monitor = TerminalMonitor(.auto)
  let interruption: Interruption

  init() throws { interruption = try Signals.interruption() }

  func pipeline(_ request: RunRequest) -> Pipeline {
    Pipeline(request, monitor: monitor, interruption: interruption)
  }

  /// - Parameters:
  ///   - files: The number of files open at once, in addition to those that every run needs.
  ///   - step: Returns the closing line.
  func conduct(files: Int = 0, _ step: () throws -> String) throws {
    try ProcessSetup.requireDescriptors(more: files)
    defer { monitor.finish() }
    let words = try step()
    monitor.note(words)
  }
}
