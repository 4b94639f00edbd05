import BatchConfiguration
import BatchFoundation
import BatchStore
import Engage
import FoundationEssentials
import Games
import Testing

@testable import BatchPipeline

/// A folder with a job, its inputs and its store; gone with the test.
final class JobFolder {
  let path: String
  /// After the times that the jobs of tests have.
  static let now = Instant(milliseconds: 1_775_001_600_000)

  private let platforms: Platforms

  init(
    _ files: [String: String],
    platforms: Platforms = Platforms([EngagePlatform(), DeltaDNAPlatform(), UnityPlatform()])
  ) throws {
    self.platforms = platforms
    let folder = FileManager.default.temporaryDirectory.appending(path: "engage-pipeline-\(UUID().uuidString)")
    path = folder.path
    for (name, text) in files {
      let file = folder.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      // Left for the system's own cleaning.
    }
  }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
  }

  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
  }

  func request(_ settings: String...) throws -> RunRequest { try request(settings) }

  func request(_ settings: [String]) throws -> RunRequest {
    try request(CommandLineChanges(settings: settings.compactMap { SettingOverride($0) }))
  }

  /// A run of one window, at a time of its own.
  ///
  /// - Parameter asOf: in RFC 3339, as both ends of the window; nil is the end of the window.
  func request(from: String?, to: String?, asOf: String? = nil, _ settings: String...) throws -> RunRequest {
    func instant(_ text: String?) throws -> Instant? { try text.map { try #require(Instant.parse(rfc3339: $0)) } }
    var changes = CommandLineChanges(settings: settings.compactMap { SettingOverride($0) })
    (changes.from, changes.to, changes.asOf) = try (instant(from), instant(to), instant(asOf ?? to))
    return try request(changes)
  }

  func request(_ changes: CommandLineChanges) throws -> RunRequest {
    let loader = ConfigurationLoader(
      environment: [:], currentDirectory: path, destinations: platforms.all.map(\.name), now: Self.now)
    return try RunRequest(
      loaded: loader.load(job: "job.json", changes), of: platforms, mode: .noUpload, now: Self.now)
  }

  func run(_ request: RunRequest) throws -> RunOutcome { try Pipeline(request, monitor: SilentMonitor()).run() }

  func replay(_ request: RunRequest) throws -> ReplayOutcome {
    var request = request
    request.mode = .replay
    let outcome = try Pipeline(request, monitor: SilentMonitor()).run()
    return try #require(outcome.replay)
  }

  /// Lines of the quarantine: place, offset, reason, bytes, whether they were replayed.
  func quarantine() throws -> [String] {
    let store = try EventStore.openReading("\(path)/j.sqlite", format: EngagePlatform().storeFormat)
    var lines: [String] = []
    try store.quarantine.forEachLine(all: true) { entry in
      let name = entry.line.file.split(separator: "/").last ?? ""
      let raw = String(decoding: entry.line.raw.prefix(20), as: UTF8.self)
      lines.append(
        "\(name):\(entry.line.line) +\(entry.line.offset) \(entry.line.reason.rawValue) '\(raw)'"
          + (entry.replayedRun == nil ? "" : " replayed"))
    }
    try store.close()
    return lines
  }
}
