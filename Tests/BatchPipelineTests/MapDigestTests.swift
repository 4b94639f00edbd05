import BatchFoundation
import BatchStore
import Testing

@testable import BatchPipeline

@Suite("What maps say is part of the configuration") struct MapDigestTests {
  private static func map(_ name: String, including more: String = "") -> String {
    #"""
    {"fields": {"deviceId": "d", "timestamp": "t", "type": {"constant": "namedEvent"}, "name": "\#(name)"},
     "rules": [{"when": {"x": "\#(name)"}}]\#(more)}
    """#
  }

  private func folder() throws -> JobFolder {
    try JobFolder([
      "job.json": #"{"name": "j", "inputs": {"events": [{"path": "a.ndjson", "map": "maps/own.json"}]}}"#,
      "maps/own.json": Self.map("n", including: #", "include": ["other.json"]"#), "maps/other.json": Self.map("m"),
      "a.ndjson": #"{"d":"1","t":1768464000,"x":"n","n":"a"}"# + "\n",
    ])
  }

  @Test("Another content is another configuration, in the map itself and in one that it includes")
  func content() throws {
    let folder = try folder()
    let other = try self.folder()
    let first = try folder.request().configurationDigest
    #expect(try other.request().configurationDigest == first)
    try folder.write("maps/other.json", Self.map("o"))
    let second = try folder.request().configurationDigest
    #expect(second != first)
    try folder.write("maps/own.json", Self.map("n"))
    #expect(try !([first, second].contains(folder.request().configurationDigest)))
    try folder.write("maps/own.json", Self.map("n", including: #", "include": ["other.json"]"#))
    try folder.write("maps/other.json", Self.map("m"))
    #expect(try folder.request().configurationDigest == first)
  }

  @Test("A run keeps it beside its settings")
  func kept() throws {
    let folder = try folder()
    func kept() throws -> [String] {
      let request = try folder.request()
      _ = try folder.run(request)
      let store = try EventStore.openReading(request.storePath, format: request.platform.storeFormat)
      defer { try? store.close() }
      return try store.runs.settings(digest: request.configurationDigest).filter { $0.origin == "map of the job" }
        .map { "\($0.name) \($0.value.utf8.count)" }
    }
    #expect(try kept() == ["map maps/own.json 16"])
    try folder.write("maps/own.json", "{}")
    #expect(try folder.request().maps.map(\.name) == ["maps/own.json"])
  }
}
