import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchReport
import FoundationEssentials
import Testing

@testable import BatchCommands

extension ConfigFindings {
  fileprivate var lines: [String] { facts.lines.map(\.text) }
}

@Suite struct ConfigFindingsTests {
  private func findings(_ files: [String: String]) throws -> ConfigFindings {
    let folder = FileManager.default.temporaryDirectory.appending(path: "engage-findings-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      do {
        try FileManager.default.removeItem(at: folder)
      } catch {
        // Left for the system's own cleaning.
      }
    }
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
    var source = try ConfigSource<JobName>.parse(["--job", folder.appending(path: "job.json").path])
    source.file = []
    return ConfigFindings(source)
  }

  @Test func gathersConfigurationAndRoutes() throws {
    let found = try findings([
      "job.json":
        #"{"name": "j", "inputs": {"events": ["e"]}, "deepLinkRoutes": "r.json", "settings": {"Sesion": {}}}"#,
      "r.json": #"{"routes": {"a/:b": 5}}"#,
    ])
    #expect(found.exit == .configuration)
    #expect(
      found.lines.contains { $0.hasSuffix("job.json:1: error: unknown section 'Sesion'; did you mean 'Session'?") })
    #expect(found.lines.contains { $0.contains("r.json:1:") && $0.contains(": error: ") })
  }

  /// The words were those of a run, whose option the check does not take.
  @Test func aRequiredInputThatIsMissingIsToldWithoutARunsOption() throws {
    let found = try findings([
      "job.json":
        #"{"name": "j", "inputs": {"events": [{"path": "e", "required": true}, {"path": "f*", "required": true}]}}"#
    ])
    #expect(found.exit == .noInput)
    let lines = found.lines.filter { !$0.contains(": note: ") }
    #expect(lines.count == 2 && lines.allSatisfy { !$0.contains("--allow-missing") })
    #expect(lines[0].hasSuffix("/e' matches nothing, but the job requires this input"), "\(lines)")
    #expect(lines[1].hasSuffix("/f*' matches nothing, but the job requires this input"), "\(lines)")
  }

  @Test func findsNothingWrong() throws {
    let found = try findings([
      "job.json": #"{"name": "j", "inputs": {"events": ["e"]}, "settings": {"Upload": {"concurrency": 2}}}"#, "e": "",
    ])
    #expect(found.exit == .done)
    #expect(
      found.lines.filter { !$0.contains(": note: 'Connection.") } == [
        "The configuration is valid: 1 setting given, 0 warnings."
      ])
    #expect((found.facts.document.text() + "\n").hasPrefix("{\n  \"good\": true,\n  \"findings\": ["))
  }

  @Test func looksAtTheEventSchema() throws {
    let found = try findings([
      "job.json":
        #"{"name": "j", "inputs": {"events": ["e"]}, "settings": {"DeltaDNA": {"eventSchema": "s.json"}}}"#,
      "s.json": "{\"events\": [{\"name\": \"a\"},\n{\"name\": \"A\"}]}",
    ])
    #expect(found.exit == .configuration)
    #expect(found.lines.count { $0.contains("s.json:2:10: error: A: 'A' already exists") } == 1)
  }

  @Test func looksAtTheSessionConfiguration() throws {
    let job =
      #"{"name": "j", "inputs": {"events": ["e"]}, "settings": {"DeltaDNA": {"sessionConfiguration": "c.json"}}}"#
    let bad = try findings(["job.json": job, "c.json": "{\"parameters\": {\n\"eventsWhitelist\": 5}}"])
    #expect(bad.exit == .configuration)
    #expect(
      bad.lines.count {
        $0.hasSuffix("c.json:2:20: error: 'parameters.eventsWhitelist' is an integer, but must be an array")
      } == 1)
    let odd = try findings(["job.json": job, "e": "", "c.json": #"{"parameters": {"eventsWhitelist": []}}"#])
    #expect(odd.exit == .done)
    let warning = "c.json:1:36: warning: 'parameters.eventsWhitelist' is empty; nothing is filtered"
    #expect(odd.lines.count { $0.hasSuffix(warning) } == 1)
  }

  @Test func needsTheRouteFile() throws {
    let found = try findings([
      "job.json": #"{"name": "j", "inputs": {"events": ["e"]}, "deepLinkRoutes": "none.json"}"#, "e": "",
    ])
    #expect(found.exit == .configuration)
    let errors = found.lines.filter { $0.contains(": error: ") }
    #expect(errors.count == 1)
    #expect(errors.allSatisfy { $0.hasSuffix("none.json: error: the route file cannot be read") })
  }
}
