import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// What a command is refused for as an output stays as it is, whichever of its outputs that is and whenever it would be written.
@Suite("Refused outputs", .serialized) struct RefusedOutputTests {
  private static let inputs = "samples/events/2026-01-15-ios.ndjson"

  /// A workspace with a store, and a job whose inputs have maps.
  private func workspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.write("maps/inner.json", try workspace.run("map", "show", "segment").output)
    try workspace.write("maps/outer.json", #"{"include": ["./inner.json"]}"#)
    try workspace.write("maps/foreign.ndjson", "")
    try workspace.write(
      "jobs/mapped.json",
      #"""
      {"name": "mapped", "store": "../var/nightly.sqlite", "asOf": "2026-01-16T00:00:00Z",
       "inputs": {"events": ["../samples/events/2026-01-15-ios.ndjson", {"path": "../maps/foreign.ndjson", "map": "../maps/outer.json"},
                             {"path": "../gone/*.ndjson", "required": true}]}}
      """#)
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0)
    return workspace
  }

  private func refuse(
    _ workspace: Workspace, _ arguments: [String], _ option: String, _ path: String, _ words: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try workspace.listing()
    let finished = try workspace.run(arguments + [option, path])
    #expect(finished.code == 64, "\(arguments) \(option) \(path)", sourceLocation: sourceLocation)
    #expect(
      finished.messages.contains("\(option): error: '\(path)' is \(words) ("), "\(arguments): \(finished.messages)",
      sourceLocation: sourceLocation)
    #expect(try workspace.listing() == before, "\(arguments) \(option) \(path)", sourceLocation: sourceLocation)
  }

  /// `--metrics` and `--otlp` were written at the end of a run that had been refused for them: the store held figures then. `post` did not
  /// compare with inputs, and no command with the tests and maps of the job.
  @Test(
    "The figures of a refused run are not written over what it was refused for",
    arguments: ["--metrics", "--otlp", "--junit", "--summary", "--events-out", "--findings-out"])
  func figuresOfARefusedRun(option: String) throws {
    let workspace = try workspace()
    for (path, words) in [
      ("var/nightly.sqlite", "the store"), (Self.inputs, "an input"), ("jobs/nightly.json", "the job"),
      ("samples/tests/nightly.json", "a test file of the job"),
    ] {
      for command in [["run", "jobs/nightly.json", "--no-upload"], ["post", "jobs/nightly.json"]] {
        try refuse(workspace, command, option, path, words)
      }
    }
    try refuse(workspace, ["validate", "jobs/nightly.json"], option, Self.inputs, "an input")
    for path in ["maps/outer.json", "maps/inner.json"] {
      try refuse(workspace, ["run", "jobs/mapped.json", "--dry-run"], option, path, "a map of the job")
    }
    // What else is wrong with the run is no reason either to write.
    try refuse(workspace, ["run", "jobs/mapped.json", "--no-upload"], option, Self.inputs, "an input")
  }

  @Test("Files of a run with the sandbox, and of ids, are not written over")
  func sandboxAndIds() throws {
    let workspace = try workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    try workspace.write("ids", "A1F0C9D2-0001")
    for option in ["--metrics", "--summary"] {
      try refuse(
        workspace, ["run", "jobs/nightly.json", "--sandbox"], option, "var/nightly.sandbox.json",
        "the state file of the sandbox")
      try refuse(
        workspace, ["run", "jobs/nightly.json", "--dry-run", "--explain", "@ids"], option, "ids",
        "the file that lists the ids")
    }
  }

  /// None of them compared its output with anything.
  @Test("Commands that are no runs do not write over what they read either")
  func otherCommands() throws {
    let workspace = try workspace()
    let compare = ["compare", "jobs/nightly.json", "--with", "Session.sessionLifecycleExpiration=10minutes"]
    for (path, words) in [
      ("jobs/nightly.json", "the job"), (Self.inputs, "an input"), ("var/nightly.sqlite", "the store"),
    ] {
      try refuse(workspace, compare, "--html", path, words)
      try refuse(workspace, ["test", "jobs/nightly.json"], "--junit", path, words)
    }
    try refuse(
      workspace, ["test", "jobs/nightly.json"], "--junit", "samples/tests/nightly.json", "a test file of the job")
    try workspace.write("ids", "A1F0C9D2-0001")
    let export = ["person", "export", "@ids", "--job", "jobs/nightly.json"]
    for (path, words) in [
      ("var/nightly.sqlite", "the store"), ("jobs/nightly.json", "the job"), ("ids", "the file that lists the ids"),
    ] {
      try refuse(workspace, export, "--out", path, words)
    }
    try workspace.write("faults.json", "{}")
    try refuse(workspace, ["sandbox", "--faults", "faults.json"], "--state", "faults.json", "--faults")
  }

  @Test("collect does not write over its job, its inputs or the results")
  func collect() throws {
    let workspace = try Workspace()
    for line in [
      "partition jobs/nightly.json --parts 1 --out partition",
      "decide jobs/nightly.json --partition partition --part 0 --out result",
    ] {
      let finished = try workspace.run(line.split(separator: " ").map(String.init))
      #expect(finished.code == 0, "\(finished.messages)")
    }
    for (path, words) in [
      ("jobs/nightly.json", "the job"), (Self.inputs, "an input"), ("result/store.sqlite", "a file in a result folder"),
      ("var/nightly.sqlite", "the store"),
    ] {
      for option in ["--summary", "--events-out"] {
        try refuse(workspace, ["collect", "jobs/nightly.json", "result"], option, path, words)
      }
    }
  }
}
