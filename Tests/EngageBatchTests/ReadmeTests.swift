import FoundationEssentials
import TestSupport
import Testing

/// The commands that the pages show are run as they stand there.
@Suite("Commands in the documentation") struct ReadmeTests {
  private static let firstPage = "docs/getting-started.md"

  static func pages() throws -> [String] {
    ["README.md", "CONTRIBUTING.md"] + (try Checkout.files(below: "docs").filter { $0.hasSuffix(".md") })
  }

  /// The commands in a page's `sh` and `console` blocks, in order; of the latter those behind a `$`.
  private static func commands(in text: String) -> [String] {
    var commands: [String] = []
    var block: Substring?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        block = block == nil ? line.dropFirst(3) : nil
      } else if block == "sh", !line.isEmpty, !line.hasPrefix("#") {
        commands.append(String(line))
      } else if block == "console", line.hasPrefix("$ ") {
        commands.append(String(line.dropFirst(2)))
      }
    }
    return commands
  }

  @Test("Each ends well, in order, in a copy of the checkout", arguments: try pages())
  func run(page: String) throws {
    let commands = Self.commands(in: try Checkout.text(page))
    if page == "README.md" { #expect(commands.count >= 4) }
    guard !commands.isEmpty else { return }
    let workspace = try Workspace()
    let makefile = try Checkout.text("Makefile")
    try workspace.write(".build/release/.keep", "")
    for built in ["engage-batch", "release/engage-batch"] {
      try FileManager.default.createSymbolicLink(
        atPath: workspace.path + "/.build/" + built, withDestinationPath: Checkout.binary)
    }
    workspace.environment["PATH"] = workspace.path + "/.build/release:/usr/bin:/bin"
    for command in commands {
      if command == "make demo" {
        // What it runs once everything is built.
        #expect(makefile.contains("$(CHECKED_BINARY) run jobs/nightly.json --sandbox"))
        #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
      } else if command.hasPrefix("make ") {
        #expect(makefile.contains("\n\(command.dropFirst(5).prefix { $0 != " " }):"), "\(command)")
      } else {
        let finished = try workspace.start(program: "/bin/bash", ["-euo", "pipefail", "-c", command]).finish()
        #expect(finished.code == 0, "\(command): \(finished.messages)")
      }
    }
  }

  @Test("The job that the first page shows is jobs/nightly.json, byte for byte")
  func job() throws {
    #expect(
      try Self.block(after: "inside the process. The job:", in: Checkout.text(Self.firstPage))
        == Checkout.text("jobs/nightly.json"))
  }

  @Test("The events that the README shows are those of its records")
  func example() throws {
    let page = try Checkout.text("README.md")
    let workspace = try Workspace()
    try workspace.write("records.ndjson", try Self.block(after: "looked at the cart:", in: page))
    let command = ["-c", "\(Checkout.binary) stream jobs/nightly.json < records.ndjson"]
    let finished = try workspace.start(program: "/bin/bash", command).finish()
    #expect(finished.code == 0, "\(finished.messages)")
    let shown = page.matches(of: /\n\| (\d+) [^|]* \| (\d\d:\d\d) \|/).map { "\($0.1) \($0.2)" }
    let made = finished.output.matches(of: /"eventTypeCode":"(\d+)","eventTimestamp":"2026-01-15T(\d\d:\d\d)/)
    #expect(shown == made.map { "\($0.1) \($0.2)" })
    #expect(shown.count == 4)
  }

  /// With `ENGAGE_RECORD=1` the block is written anew, and the test fails all the same, so that nobody mistakes a recording for a check.
  @Test("The output that the first page shows is what the job prints, but for time, port and folder")
  func output() throws {
    let workspace = try Workspace()
    let finished = try workspace.run("run", "jobs/nightly.json", "--sandbox")
    #expect(finished.code == 0)
    let printed = Self.placed(finished.messages, from: workspace.path)
    let page = try Checkout.text(Self.firstPage)
    let shown = try Self.block(after: "The run prints:", in: page)
    if ProcessInfo.processInfo.environment["ENGAGE_RECORD"] == "1" {
      try Data(page.replacing(shown, with: printed).utf8).write(to: Checkout.url(Self.firstPage))
      Issue.record("recorded \(Self.firstPage)")
    }
    #expect(shown == printed, "run with ENGAGE_RECORD=1 and look at the difference")
  }

  /// The first block of code after a line that ends with those words.
  private static func block(after words: String, in page: String) throws -> String {
    let rest = try #require(page.firstRange(of: words + "\n")).upperBound
    let begin = try #require(page[rest...].firstRange(of: "\n```")).upperBound
    let text = try #require(page[begin...].firstIndex(of: "\n"))
    let end = try #require(page[text...].firstRange(of: "\n```")).lowerBound
    return String(page[page.index(after: text)...end])
  }

  /// What a run printed, as if it had been run elsewhere at another time.
  private static func placed(_ text: String, from folder: String) -> String {
    text.replacing(folder, with: "/home/ada/engage-batch")
      .replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:45051")
      .replacing(/\bin \d+\.\d+ s/, with: "in 0.045 s")
      .replacing(/-\d{8}T\d{6}Z/, with: "-20261121T152122Z")
  }
}
