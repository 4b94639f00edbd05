import FoundationEssentials
import TestSupport
import Testing

/// The commands that the pages show are run as they stand there.
@Suite("Commands in the documentation") struct ReadmeTests {
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
    if page == "README.md" { #expect(commands.count >= 5) }
    guard !commands.isEmpty else { return }
    let workspace = try Workspace()
    let makefile = try Checkout.text("Makefile")
    for folder in ["release", "debug"] {
      try workspace.write(".build/\(folder)/.keep", "")
      try FileManager.default.createSymbolicLink(
        atPath: workspace.path + "/.build/\(folder)/engage-batch", withDestinationPath: Checkout.binary)
    }
    workspace.environment["PATH"] = workspace.path + "/.build/release:/usr/bin:/bin"
    for command in commands {
      if command == "make demo" {
        // What it runs once everything is built.
        #expect(makefile.contains("$(BINARY) run jobs/nightly.json --sandbox"))
        #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
      } else if command.hasPrefix("make ") {
        #expect(makefile.contains("\n\(command.dropFirst(5).prefix { $0 != " " }):"), "\(command)")
      } else {
        let finished = try workspace.start(program: "/bin/bash", ["-euo", "pipefail", "-c", command]).finish()
        #expect(finished.code == 0, "\(command): \(finished.messages)")
      }
    }
  }

  @Test("The end summary that the README shows is the one that is printed, times, ports and paths aside")
  func demoOutput() throws {
    let text = String(decoding: try Data(contentsOf: Checkout.root.appending(path: "README.md")), as: UTF8.self)
    let shown = text.split(separator: "<!-- demo output").dropFirst().first?.split(separator: "```").dropFirst().first
    let lines = (shown ?? "").split(separator: "\n").map(Self.withoutPlace)
    // The block is filled in by hand, from a release build.
    guard lines.count > 2 else { return }
    let workspace = try Workspace()
    let finished = try workspace.run("run", "jobs/nightly.json", "--sandbox")
    let printed = finished.messages.split(separator: "\n").map(Self.withoutPlace)
    #expect(lines.filter { !$0.hasPrefix("$") && !printed.contains($0) } == [])
  }

  /// A line of the summary without what differs from run to run.
  private static func withoutPlace(_ line: Substring) -> String {
    var words = line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
    for index in words.indices where words[index].contains("/") { words[index] = "PLACE" }
    if let index = words.firstIndex(of: "in"), words.indices.contains(index + 1), Double(words[index + 1]) != nil {
      words[index + 1] = "N"
    }
    return words.joined(separator: " ")
  }
}
