import TestSupport
import Testing

@Suite("Maps in what is configured") struct ShownMapTests {
  @Test("`config show` and `history` tell that a map says something else")
  func shown() throws {
    let workspace = try Workspace([])
    func map(_ name: String) -> String {
      #"""
      {"fields": {"deviceId": "d", "timestamp": "t", "type": {"constant": "namedEvent"}, "name": "\#(name)"}}
      """#
    }
    try workspace.write("job.json", #"{"name": "j", "inputs": {"events": [{"path": "a.ndjson", "map": "own.json"}]}}"#)
    try workspace.write("a.ndjson", #"{"d":"1","t":1768464000,"n":"a","m":"b"}"# + "\n")
    var shown: [String] = []
    for name in ["n", "m"] {
      try workspace.write("own.json", map(name))
      let config = try workspace.run("config", "show", "--job", "job.json")
      let line = try #require(config.messages.split(separator: "\n").first { $0.hasPrefix("Map: own.json (content ") })
      shown.append(String(line.dropFirst("Map: own.json (content ".count).dropLast()))
      let run = try workspace.run("run", "job.json", "--no-upload")
      #expect(run.code == 0, "\(run.messages)")
    }
    #expect(shown.map(\.utf8.count) == [16, 16] && shown[0] != shown[1])
    let history = try workspace.run("history", "--job", "job.json", "--format", "json")
    #expect(history.output.contains("map own.json") && history.output.contains(shown[0]), "\(history)")
    try workspace.write("own.json", "{")
    let broken = try workspace.run("config", "show", "--job", "job.json")
    #expect(broken.code == 0 && broken.messages.contains("Map: own.json (content unreadable)"), "\(broken.messages)")
  }

  @Test("`config check` refuses fields that records do not have, and says what fits none of the records that are there")
  func checked() throws {
    let workspace = try Workspace([])
    func map(_ device: String, _ note: String) -> String {
      #"""
      {"form": "csv", "fields": {"\#(device)": "device", "timestamp": "when", "type": {"constant": "namedEvent"}, "name": "what"},
       "rules": [{"name": "all", "when": {"what": {"exists": true}}, "fields": {"params.note": "\#(note)"}},
         {"name": "never", "when": {"what": "x"}}]}
      """#
    }
    try workspace.write("in.csv", "device,when,what,note\nd,2026-01-15T08:00:00Z,a,n\n")
    try workspace.write(
      "job.json", #"{"name": "j", "inputs": {"events": [{"path": "in.csv", "map": "own.json"}]}}"#)
    try workspace.write("own.json", map("deviceId", "nota"))
    let warned = try workspace.run("config", "check", "--job", "job.json")
    #expect(warned.code == 0, "\(warned.messages)")
    let found = warned.messages.split(separator: "\n").filter { $0.contains("map 'own.json'") }
    let looked = "job.json: warning: map 'own.json', tried on the first record of"
    #expect(found.count == 2 && found.allSatisfy { $0.hasPrefix(looked) }, "\(warned.messages)")
    #expect(
      found.first?.hasSuffix("in.csv: rule 'all': no record has 'nota', from which 'params.note' is read") == true)
    #expect(found.last?.hasSuffix("in.csv: rule 'never' matches no record") == true)
    try workspace.write("own.json", map("deviceld", "note"))
    let refused = try workspace.run("config", "check", "--job", "job.json")
    #expect(refused.code == 78)
    #expect(
      refused.messages.hasPrefix(
        "own.json:1: error: 'fields.deviceld' is not a record field; did you mean 'deviceId'?\n"),
      "\(refused.messages)")
  }

  /// Every record of such a rule was quarantined, and the check was good.
  @Test("A type that no record is is an error of config check, and one of another platform a warning")
  func unknownType() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json", #"{"name": "j", "inputs": {"events": [{"path": "in.ndjson", "map": "own.json"}]}}"#)
    try workspace.write("in.ndjson", #"{"d":"d","t":"2026-01-15T08:00:00Z","e":"x"}"# + "\n")
    func check(_ types: String...) throws -> (code: Int32, [Substring]) {
      let rules = types.map { #"{"type": \#($0)}"# }
      try workspace.write(
        "own.json",
        #"{"fields": {"deviceId": "d", "timestamp": "t", "name": "e"}, "rules": ["# + "\n"
          + rules.joined(separator: ",\n") + "]}")
      let checked = try workspace.run("config", "check", "job.json")
      return (checked.code, checked.messages.split(separator: "\n").filter { $0.hasPrefix("own.json:") })
    }
    let (code, found) = try check(
      #""namedEvnt""#, #"{"path": "e", "table": {"a": "launch"}, "default": "sesion"}"#, #""namedEvent""#)
    #expect(code == 78)
    #expect(found.count == 2)
    #expect(
      found.first == "own.json:2: error: 'type' is 'namedEvnt', which is not a record type; did you mean 'namedEvent'?")
    #expect(
      found.last?.hasPrefix("own.json:3: error: 'type' is 'sesion', which is not a record type; the types are launch,")
        == true)
    let (warned, warnings) = try check(#""transaction""#, #""launch""#)
    #expect(warned == 0)
    #expect(
      warnings == ["own.json:2: warning: 'type' is 'transaction', a record type of 'deltadna' that 'engage' ignores"])
  }
}
