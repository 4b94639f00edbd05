import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// A program of the user adds attributes, and whatever it does, events go out.
@Suite("Augmentation by a program") struct ProgramAugmentationTests {
  private static let records =
    (1...6).map {
      #"{"deviceId":"d-1","timestamp":"2026-01-15T08:0\#($0):00Z","type":"namedEvent","name":"event \#($0)","recipientId":"4711"}"#
    }.joined(separator: "\n") + "\n"

  private func workspace(_ script: String, timeout: String = "1 minute") throws -> Workspace {
    let workspace = try Workspace()
    try workspace.write("in.ndjson", Self.records)
    try workspace.write("plugin.sh", script)
    try workspace.write(
      "job.json",
      """
      {"name": "j", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z",
       "settings": {"Augmentation": {"command": ["sh", "plugin.sh"], "commandTimeout": "\(timeout)"}}}
      """)
    return workspace
  }

  /// The values of an attribute, event after event; `-` where one has none.
  private func values(_ name: String, _ workspace: Workspace) throws -> [String] {
    try workspace.read("events.ndjson").split(separator: "\n").map { line in
      let attributes = try JSONNode.parse(Array(line.utf8))["attributes"]?.array ?? []
      return attributes.first { $0["name"]?.string == name }?["value"]?.string ?? "-"
    }
  }

  private func run(_ workspace: Workspace) throws -> Finished {
    try workspace.run(
      "run", "job.json", "--no-upload", "--events-out", "events.ndjson", "--progress", "none",
      environment: ["ENGAGE_SECRET": "canary"])
  }

  private static let answering = """
    n=0
    while read -r line; do
      n=$((n+1))
      case $line in *'event 4'*) eval "$AT_FOUR" ;; esac
      echo '{"Weather":"sunny","Degrees":21.50,"Nice":true,"Event Name":"other","None":null}'
    done
    """

  @Test("Attributes are added in the order of names, and what an event has stays")
  func adds() throws {
    let workspace = try workspace(Self.answering.replacing(#"eval "$AT_FOUR""#, with: ":"))
    let finished = try run(workspace)
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(try values("Weather", workspace) == Array(repeating: "sunny", count: 6))
    #expect(try values("Degrees", workspace) == Array(repeating: "21.50", count: 6))
    #expect(try values("Event Name", workspace) == (1...6).map { "event \($0)" })
    #expect(try values("None", workspace) == Array(repeating: "-", count: 6))
    #expect(!finished.messages.contains("augmentation-program"))
    let line = try #require(try workspace.read("events.ndjson").split(separator: "\n").first)
    let names = try JSONNode.parse(Array(line.utf8))["attributes"]?.array?.dropFirst(10).compactMap {
      $0["name"]?.string
    }
    #expect(names == names?.sortedByBytes)
  }

  @Test(
    "A program that dies, hangs, floods or answers nonsense costs one event its attributes, and is told",
    arguments: [
      ("exit 1", "it ended before it answered"), ("sleep 60", "it did not answer in time"),
      ("head -c 200000 /dev/zero", "it wrote more than one line per event, or too long a line"),
      ("echo '[1]'; continue", "a JSON object of"),
      (#"echo '{"a":{"b":1}}'; continue"#, "a JSON object of"), ("echo nonsense; continue", "a JSON object of"),
    ])
  func aProgramThatFailsCostsOneEventItsAttributes(how: String, reason: String) throws {
    let timeout = reason.contains("in time") ? "3 seconds" : "1 minute"
    let workspace = try workspace(Self.answering.replacing(#"eval "$AT_FOUR""#, with: how), timeout: timeout)
    let validated = try workspace.run("validate", "job.json")
    #expect(validated.output.contains("in.ndjson:4: warning: augmentation-program: "), "\(validated.output)")
    #expect(validated.output.contains(reason), "\(validated.output)")
    let finished = try run(workspace)
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(try values("Weather", workspace) == ["sunny", "sunny", "sunny", "-", "sunny", "sunny"])
    #expect(finished.messages.contains("1  augmentation-program"), "\(finished.messages)")
  }

  @Test("A program that always fails is given up, and every event goes out; it sees no secrets")
  func alwaysFails() throws {
    let workspace = try workspace("exit 0")
    let finished = try run(workspace)
    #expect(finished.code == 0 && finished.messages.contains("6  augmentation-program"), "\(finished.messages)")
    #expect(try workspace.read("events.ndjson").split(separator: "\n").count == 6)
    try workspace.write("plugin.sh", "while read -r line; do echo \"{\\\"Secret\\\":\\\"[$ENGAGE_SECRET]\\\"}\"; done")
    _ = try run(workspace)
    try workspace.remove("j.sqlite")
    _ = try run(workspace)
    #expect(try values("Secret", workspace) == Array(repeating: "[]", count: 6))
  }

  @Test("A program that cannot be found ends with 78 before anything is created")
  func absent() throws {
    let workspace = try workspace("")
    let finished = try workspace.run(
      "run", "job.json", "--no-upload", "--set", #"Augmentation.command=["no-such-program"]"#)
    #expect(finished.code == 78 && finished.messages.contains("no-such-program"), "\(finished.messages)")
    #expect(!workspace.exists("j.sqlite"))
  }

  @Test("The program of the cookbook, in ten lines of Python; of shell where there is no Python")
  func cookbook() throws {
    let workspace = try workspace("while read -r line; do echo '{\"Daytime\":\"morning\"}'; done")
    let page = try Checkout.text("docs/cookbook.md")
    let start = try #require(page.firstRange(of: "```python\n")).upperBound
    let end = try #require(page[start...].firstRange(of: "```")).lowerBound
    #expect(page[start..<end].split(separator: "\n").count <= 10)
    try workspace.write("daytime.py", String(page[start..<end]))
    let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")
    let finished = try workspace.run(
      "run", "job.json", "--no-upload", "--events-out", "events.ndjson", "--set",
      hasPython ? #"Augmentation.command=["python3","daytime.py"]"# : #"Augmentation.command=["sh","plugin.sh"]"#)
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(try values("Daytime", workspace) == Array(repeating: "morning", count: 6))
  }
}
