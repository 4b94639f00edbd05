import TestSupport
import Testing

/// Windows and paths that move with the time of the run, in the executable.
@Suite("A job for every night") struct MovingWindowTests {
  static let job = "jobs/every-night.json"

  @Test("A run says what they mean, and reads the day's files alone")
  func run() throws {
    let workspace = try Workspace()
    try workspace.write("samples/events/2026-01-16-ios.ndjson", "not read")
    let run = try workspace.run(
      "run", Self.job, "--as-of", "2026-01-16T02:15:00Z", "--sandbox", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    #expect(
      run.messages.hasPrefix(
        """
        Window: 2026-01-15T00:00:00.000Z to 2026-01-16T00:00:00.000Z (yesterday to today, Europe/London)
        Input: samples/events/2026-01-15-*.ndjson
        Input: samples/notifications/2026-01-15.ndjson
        Input: samples/deep-links/2026-01-15.*

        """))
    #expect(try Summary(run.output)["records.read"] == 36)
  }

  @Test("A night without files is not an input, and names what was looked for")
  func noFiles() throws {
    let workspace = try Workspace()
    let run = try workspace.run("run", Self.job, "--as-of", "2026-01-20T02:15:00Z", "--sandbox")
    #expect(run.code == 66)
    #expect(run.messages.contains("samples/events/2026-01-19-*.ndjson"), "\(run.messages)")
  }

  /// It looked for the files of today.
  @Test("config check looks for the files of the night that is named")
  func check() throws {
    let workspace = try Workspace()
    func check(_ arguments: String...) throws -> Finished { try workspace.run(["config", "check"] + arguments) }
    let checked = try check(Self.job, "--as-of", "2026-01-16T02:15:00Z")
    #expect(checked.code == 0, "\(checked.messages)")
    let other = try check(Self.job, "--as-of", "2026-01-20T02:15:00Z")
    #expect(other.code == 66 && other.messages.contains("no input: nothing matches"), "\(other.messages)")
    let without = try check("--file", "configs/EngageConfig.plist", "--as-of", "2026-01-20T02:15:00Z")
    #expect(without.code == 64 && without.messages.contains("need a job"), "\(without.messages)")
  }

  @Test("config show says on stderr what they mean, and nothing else moves")
  func show() throws {
    let workspace = try Workspace()
    let shown = try workspace.run("config", "show", "--job", Self.job, "--format", "json")
    #expect(shown.code == 0)
    #expect(shown.messages.hasPrefix("Window: "))
    #expect(shown.messages.contains(" (yesterday to today, Europe/London)\nInput: samples/events/20"))
    let fixed = try workspace.run("config", "show", "--job", "jobs/nightly.json")
    #expect(!fixed.messages.contains("Window:"))
  }
}
