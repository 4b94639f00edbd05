import FoundationEssentials
import TestSupport
import Testing

/// What people are shown, whole, as it was when somebody last looked at it: files of `Tests/Goldens`.
///
/// With `ENGAGE_RECORD=1` they are written anew, and the tests fail all the same, so that nobody mistakes a recording for a check.
@Suite("Goldens") struct GoldenTests {
  @Test("The help of every verb")
  func help() throws {
    let workspace = try Workspace([])
    let tree = try workspace.run("--experimental-dump-help")
    let command = try JSONDecoder().decode(HelpTree.self, from: Data(tree.output.utf8)).command
    var text = ""
    for words in command.leaves.sorted(by: { $0.joined(separator: " ") < $1.joined(separator: " ") }) {
      let finished = try workspace.run(words + ["--help"])
      #expect(finished.code == 0)
      text += "==> \(words.joined(separator: " "))\n\(finished.output)\n"
    }
    try check("help.txt", text)
  }

  @Test("The configuration that the samples come to, with the origin of each value")
  func configuration() throws {
    let workspace = try Workspace()
    let finished = try workspace.run("config", "show", "--job", "jobs/nightly.json")
    #expect(finished.code == 0, "\(finished.messages)")
    try check("config-show.txt", timeless(finished.output, workspace))
  }

  @Test("End summary and reports of the sample jobs", arguments: ["nightly", "game", "unity"])
  func reports(job: String) throws {
    let workspace = try Workspace()
    let finished = try workspace.run(
      "run", "jobs/\(job).json", "--sandbox", "--set", "Report.personalData=clear", "--set", "Upload.concurrency=1")
    #expect(finished.code == 0)
    let folder = try #require(FileManager.default.contentsOfDirectory(atPath: workspace.path + "/var/reports").first)
    try check("\(job).txt", timeless(finished.messages, workspace))
    for kind in ["json", "html"] {
      try check("\(job)-report.\(kind)", timeless(workspace.read("var/reports/\(folder)/report.\(kind)"), workspace))
    }
  }

  /// As if it had been run at another place and time, in no time.
  private func timeless(_ text: String, _ workspace: Workspace) -> String {
    text.replacing(workspace.path, with: "/home/ada/engage-batch")
      .replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:45051")
      .replacing(/-\d{8}T\d{6}Z/, with: "-20261121T152122Z")
      .replacing(/\b\d+\.\d+ s\b/, with: "0.045 s")
      .replacing(/("(?:seconds|durationSeconds)" ?: ?)[0-9.e-]+/) { "\($0.output.1)0.045" }
      // The bars of the stages.
      .replacing(/<rect width="[\d.]+" height="8"\/>(?=.*0\.045 s<)/, with: "<rect width=\"50\" height=\"8\"/>")
      // It digests paths, too.
      .replacing(/("digest" ?: ?)"[^"]*"/) { "\($0.output.1)\"0123456789abcdef\"" }
      .replacing(/<dt>started<\/dt><dd>[^<]*/, with: "<dt>started</dt><dd>2026-11-21T15:21:22.000Z")
      .replacing(/<dt>configuration<\/dt><dd>[0-9a-f]{16}/, with: "<dt>configuration</dt><dd>0123456789abcdef")
      .replacing(/("startedAt" ?: ?)"[^"]*"/) { "\($0.output.1)\"2026-11-21T15:21:22.000Z\"" }
  }

  private func check(_ name: String, _ text: String) throws {
    let file = "Tests/Goldens/\(name)"
    if ProcessInfo.processInfo.environment["ENGAGE_RECORD"] == "1" {
      try Data(text.utf8).write(to: Checkout.url(file))
      Issue.record("recorded \(file)")
      return
    }
    let golden = try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = zip(golden, lines).enumerated().first { $1.0 != $1.1 }?.offset ?? min(golden.count, lines.count)
    let isSame = golden == lines
    #expect(
      isSame,
      """
      \(file):\(first + 1): '\(first < lines.count ? String(lines[first]) : "")'; \
      run with ENGAGE_RECORD=1 and look at the difference
      """)
  }
}

/// The commands as ArgumentParser tells of them.
private struct HelpTree: Decodable {
  struct Command: Decodable {
    var commandName: String
    var subcommands: [Command]?

    /// The words of every command below this one that runs something.
    var leaves: [[String]] {
      (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { command in
        command.subcommands?.isEmpty ?? true
          ? [[command.commandName]] : command.leaves.map { [command.commandName] + $0 }
      }
    }
  }

  var command: Command
}
