package import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import FoundationEssentials

extension FirstJob.Platform: ExpressibleByArgument {}

/// `engage-batch init`: a job, its configuration and a small export, that run at once.
package struct InitCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a job, its configuration and a small export into a folder; they run at once.",
    discussion: "Nothing is overwritten: where one of the files is there already, none is written (73).")

  @Argument(help: "The folder; it is made if it is not there.")
  var folder = "."

  @Option(help: "engage, deltadna or unity.")
  var platform: FirstJob.Platform = .engage

  package init() {}

  package func run() throws {
    let files = FirstJob(name: name, platform: platform, day: Zone.utc.startOfDay(.now, plus: -1)).files
    try Failures.reported {
      for file in files { try NewFile.refuse(at: path(of: file)) }
      for file in files {
        try NewFile.write(file.text, to: path(of: file))
        Streams.note("Wrote \(path(of: file))")
      }
    }
    let run = ShellCommand(["run", path(of: files[0]), "--sandbox"])
    Streams.note("To try it: \(run.text)")
  }

  /// That of the folder, with `-` for what is not an ASCII letter, a digit, `.`, `_` or `-`; `first` where nothing is left.
  private var name: String {
    let folder = URL(filePath: folder).standardizedFileURL.lastPathComponent
    let name = String(PathText.component(folder).drop { $0 == "." })
    return name.contains { $0 != "-" } ? name : "first"
  }

  private func path(of file: FirstJob.File) -> String { folder == "." ? file.path : "\(folder)/\(file.path)" }
}
