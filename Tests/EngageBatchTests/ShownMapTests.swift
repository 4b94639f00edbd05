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
}
