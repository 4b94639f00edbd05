import BatchConfiguration
import BatchFoundation
import FoundationEssentials
import Glibc
import Testing

@testable import BatchPipeline

/// Attributes that are left out, masked or hashed before they are kept or sent.
@Suite struct WithheldAttributeTests {
  static let files = [
    "job.json": #"""
    {"name": "j", "inputs": {"events": ["a.ndjson"]}, "asOf": "2026-02-01T00:00:00Z"}
    """#,
    "a.ndjson": #"""
    {"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"namedEvent","name":"n","params":{"email":"ada@x.example","phone":"1","plan":"gold"}}
    {"deviceId":"e","timestamp":"2026-01-15T08:00:00Z","type":"namedEvent","name":"m","params":{"email":"ada@x.example","phone":"2"}}

    """#,
  ]

  @Test func attributesAreLeftOutMaskedAndHashed() throws {
    let folder = try JobFolder(Self.files)
    var request = try folder.request(
      "Privacy.leaveOut=phone", "Privacy.mask=plan, Event Name", "Privacy.hash=email",
      "Privacy.hashKey=0123456789abcdef")
    request.eventsOut = "\(folder.path)/out"
    #expect(try folder.run(request).exit == .done)
    let out = try folder.text("out")
    #expect(!out.contains("ada@x.example") && !out.contains("phone") && !out.contains("gold"))
    #expect(out.contains(#"{"name":"plan","value":"***"}"#) && out.contains(#"{"name":"Event Name","value":"***"}"#))
    // HMAC-SHA-256 of the address with that key.
    let hash = #"{"name":"email","value":"9e17570b5de0425729d838e6e5eacebc97d419a4f08d75b74fafef345c9edc0c"}"#
    #expect(out.split(separator: hash).count == 3)
    let store = try Data(contentsOf: URL(filePath: "\(folder.path)/j.sqlite"))
    #expect(store.firstRange(of: Data("ada@x.example".utf8)) == nil)
  }

  @Test(arguments: [
    (["Privacy.hash=email"], "'Privacy.hash' names attributes, but 'Privacy.hashKey' has fewer than 16 bytes"),
    (["Privacy.mask=a", "Privacy.leaveOut=a"], "'Privacy.mask' and 'Privacy.leaveOut' both name 'a'"),
    (
      ["Privacy.mask=Device Name"],
      "'Privacy.mask' cannot name 'Device Name', a core attribute that every event must carry"
    ),
  ])
  func whatCannotBeMeantIsRefused(settings: [String], problem: String) throws {
    let folder = try JobFolder(Self.files)
    #expect {
      let loader = ConfigurationLoader(
        environment: [:], currentDirectory: folder.path, destinations: ["engage", "deltadna", "unity"],
        now: JobFolder.now)
      let loaded = try loader.load(
        job: "job.json", CommandLineChanges(settings: settings.compactMap { SettingOverride($0) }))
      var request = try folder.request()
      request.loaded = loaded
      return try folder.run(request)
    } throws: { error in
      guard let errors = error as? ConfigurationErrors else { return false }
      return errors.faults.contains { $0.problem == problem }
    }
  }

  @Test(arguments: ["deltadna", "unity"])
  func aGameIsToldThatItsEventsStayAsTheyAre(destination: String) throws {
    let folder = try JobFolder([
      "job.json":
        #"{"name": "g", "destination": "\#(destination)", "inputs": {"events": ["a"]}, "settings": {"Privacy": {"mask": ["a"]}}}"#
    ])
    #expect {
      try folder.request()
    } throws: { error in
      "\(error)".contains("'Privacy.mask' names attributes, but a game's events are sent unchanged")
    }
  }
}
