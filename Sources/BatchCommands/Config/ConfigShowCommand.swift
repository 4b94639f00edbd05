import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline

struct ConfigShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print every setting as a run would see it; secrets are redacted.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json, plist
  }

  @OptionGroup var source: ConfigSource<JobName>

  @Option(help: "text, json or plist; the latter two can be used as configuration files.")
  var format: Format = .text

  func run() throws {
    let (job, configuration) = try source.load()
    if let job {
      for line in job.profileLines(all: true) + job.times + [job.knownTime(at: .now)] { Streams.note(line) }
      for map in MapDigest.all(of: job) { Streams.note("Map: \(map.name.printable) (content \(map.text))") }
    }
    switch format {
    case .text: Streams.data(configuration.lines.joined(separator: "\n"))
    case .json: Streams.data(configuration.document.text())
    case .plist: Streams.document(PropertyListText.of(configuration.document))
    }
  }
}
