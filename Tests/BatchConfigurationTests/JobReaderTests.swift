import BatchFoundation
import TestSupport
import Testing

@testable import BatchConfiguration

@Suite struct JobReaderTests {
  static let full = """
    {
      "name": "nightly",
      "configuration": ["../configs/EngageConfig.json"],
      "settings": { "Session": { "sessionLifecycleExpiration": "5 minutes" } },
      "inputs": {
        "events":        ["../samples/events/*.ndjson"],
        "notifications": ["/data/notifications"],
        "deepLinks":     ["links/**"]
      },
      "deepLinkRoutes": "../configs/MobileDeepLinkingConfig.json",
      "window": { "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z" },
      "asOf": "2026-02-01T01:00:00+01:00",
      "destination": "engage",
      "identity": true,
      "store": "../var/nightly.sqlite",
      "reports": "../var/reports"
    }
    """

  @Test func readsEveryField() throws {
    let folder = try TemporaryFolder(["jobs/nightly.json": Self.full, "configs/EngageConfig.json": "{}"])
    let job = try folder.loader().load(job: "jobs/nightly.json").job
    let january = Instant(milliseconds: 1_767_225_600_000)
    let february = Instant(milliseconds: 1_769_904_000_000)
    var expected = Job(file: folder.path + "/jobs/nightly.json", destination: "engage")
    expected.name = "nightly"
    expected.configuration = [folder.path + "/configs/EngageConfig.json"]
    expected.inputs.events = [JobInput(path: folder.path + "/samples/events/*.ndjson")]
    expected.inputs.notifications = [JobInput(path: "/data/notifications")]
    expected.inputs.deepLinks = [JobInput(path: folder.path + "/jobs/links/**")]
    expected.deepLinkRoutes = folder.path + "/configs/MobileDeepLinkingConfig.json"
    expected.window = TimeWindow(from: january, to: february)
    expected.asOf = february
    expected.destination = "engage"
    expected.identity = true
    expected.store = folder.path + "/var/nightly.sqlite"
    expected.reports = folder.path + "/var/reports"
    #expect(job == expected)
    #expect(job.directory == folder.path + "/jobs")
    #expect(job.window.contains(january))
    #expect(!job.window.contains(february))
  }

  @Test func readsAPropertyListAlike() throws {
    let folder = try TemporaryFolder([
      "job.plist": """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict>
      <key>name</key><string>p</string>
      <key>inputs</key><dict><key>events</key><array><string>e</string></array></dict>
      <key>asOf</key><date>2026-02-01T00:00:00Z</date>
      <key>identity</key><true/>
      </dict></plist>
      """
    ])
    let job = try folder.loader().load(job: "job.plist").job
    #expect(job.name == "p")
    #expect(job.inputs.events == [JobInput(path: folder.path + "/e")])
    #expect(job.asOf == Instant(milliseconds: 1_769_904_000_000))
    #expect(job.identity)
    #expect(job.destination == "engage")
    #expect(job.store == nil)
  }

  @Test("An input may say what has to be there, in a property list as well", arguments: ["j.json", "j.plist"])
  func inputObjects(file: String) throws {
    let folder = try TemporaryFolder([
      "j.json": #"""
      {"name": "j", "inputs": {"events": [
        "a", {"path": "b", "label": "of the shop", "required": true, "minRecords": 100}, {"path": "-"},
        {"path": "c", "required": null, "minRecords": null, "label": null}]}}
      """#,
      "j.plist": """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
      <key>name</key><string>j</string>
      <key>inputs</key><dict><key>events</key><array>
      <string>a</string>
      <dict><key>path</key><string>b</string><key>label</key><string>of the shop</string><key>required</key><true/>
      <key>minRecords</key><integer>100</integer></dict>
      <dict><key>path</key><string>-</string></dict><dict><key>path</key><string>c</string></dict>
      </array></dict>
      </dict></plist>
      """,
    ])
    var shop = JobInput(path: folder.path + "/b")
    (shop.label, shop.isRequired, shop.minRecords) = ("of the shop", true, 100)
    #expect(
      try folder.loader().load(job: file).job.inputs.events == [
        JobInput(path: folder.path + "/a"), shop, JobInput(path: "/dev/stdin"), JobInput(path: folder.path + "/c"),
      ])
  }

  @Test("A map is a preset or a file, and may name variables")
  func mappedInput() throws {
    let folder = try TemporaryFolder([
      "jobs/j.json": #"""
      {"name": "j", "window": {"from": "2026-01-30T00:00:00Z", "to": "2026-01-31T00:00:00Z"},
       "inputs": {"events": [
        {"path": "a", "map": "segment", "minRecords": 1}, {"path": "{yyyy}-{MM}-{dd}", "map": "../maps/${SHOP}.json"},
        {"path": "b", "map": null}]}}
      """#
    ])
    let inputs = try folder.loader(["SHOP": "north"]).load(job: "jobs/j.json").job.inputs.events
    #expect(inputs.map(\.map) == ["segment", folder.path + "/maps/north.json", nil])
    #expect(inputs.map(\.minRecords) == [1, nil, nil])
    #expect(inputs[1].patterns == [folder.path + "/jobs/2026-01-30"])
  }

  @Test("A path with date patterns keeps them, with the days that they stand for")
  func datedInput() throws {
    let folder = try TemporaryFolder([
      "j.json": #"""
      {"name": "j", "window": {"from": "2026-01-30T00:00:00Z", "to": "2026-02-01T00:00:00Z"},
       "inputs": {"events": ["a", {"path": "{yyyy}-{MM}-{dd}", "required": true}, "{yyyy}-{MM}"]}}
      """#
    ])
    let events = try folder.loader().load(job: "j.json").job.inputs.events
    #expect(events.map { PathText.shown($0.path, from: folder.path) } == ["a", "{yyyy}-{MM}-{dd}", "{yyyy}-{MM}"])
    #expect(
      events[1].days?.map { "\($0.number) \(PathText.shown($0.path, from: folder.path))" }
        == ["20483 2026-01-30", "20484 2026-01-31"])
    #expect(
      events[2].days?.map { "\($0.number) \(PathText.shown($0.path, from: folder.path))" } == ["20483 2026-01"])
    #expect(events.map(\.isRequired) == [false, true, false])
  }

  @Test func takesChangesOfTheCommandLine() throws {
    let folder = try TemporaryFolder(["jobs/nightly.json": Self.full, "configs/EngageConfig.json": "{}"])
    let from = Instant(milliseconds: 1_767_000_000_000)
    let job = try folder.loader().load(
      job: "jobs/nightly.json",
      CommandLineChanges(from: from, asOf: from, store: "other.sqlite", report: "/tmp/r")
    ).job
    #expect(job.window.from == from)
    #expect(job.window.to == Instant(milliseconds: 1_769_904_000_000))
    #expect(job.asOf == from)
    #expect(job.store == folder.path + "/other.sqlite")
    #expect(job.reports == "/tmp/r")
  }

  struct Case: CustomTestStringConvertible {
    var json: String
    var faults: [String]

    init(_ json: String, _ faults: String...) {
      self.json = json
      self.faults = faults
    }

    var testDescription: String { json }
  }

  static let cases = [
    Case(
      "{}", "j.json:1: error: the job has no 'name'",
      "j.json:1: error: the job names no inputs; name at least one file under 'events', 'notifications', 'deepLinks' or 'stores'"
    ),
    Case(#"[]"#, "j.json:1: error: the job is an array, but must be an object"),
    Case(
      #"{"name": "j", "inputs": {"events": []}}"#,
      "j.json:1: error: the job names no inputs; name at least one file under 'events', 'notifications', 'deepLinks' or 'stores'"
    ),
    Case(
      #"{"name": "j", "inputs": {"event": ["x"]}}"#,
      "j.json:1: error: unknown key 'inputs.event'; did you mean 'inputs.events'?"),
    Case(
      #"{"name": "j", "inputs": {"events": "x"}}"#,
      "j.json:1: error: 'inputs.events' is a string, but must be an array of paths"),
    Case(
      #"{"name": "j", "inputs": {"events": ["x", 5, ""]}}"#,
      "j.json:1: error: 'inputs.events[1]' is an integer, but must be a string",
      "j.json:1: error: 'inputs.events[2]' is empty"),
    Case(
      #"{"name": "j", "inputs": {"events": [{"path": "x", "requird": true}, {"required": true}, {"path": ""}]}}"#,
      "j.json:1: error: unknown key 'inputs.events[0].requird'; did you mean 'inputs.events[0].required'?",
      "j.json:1: error: 'inputs.events[1]' has no 'path'", "j.json:1: error: 'inputs.events[2].path' is empty"),
    Case(
      #"{"name": "j", "inputs": {"events": [{"path": "gs://b/x", "required": 1, "minRecords": -1}]}}"#,
      "j.json:1: error: 'inputs.events[0].path' has the unsupported scheme 'gs://'; copy the file to a local path, or use '-' and pipe the file in: gcloud storage cat ADDRESS | engage-batch run JOB",
      "j.json:1: error: 'inputs.events[0].required' is an integer, but must be a boolean",
      "j.json:1: error: 'inputs.events[0].minRecords' is -1, but must be 0 or more"),
    Case(
      #"{"name": "j", "inputs": {"events": ["s3://b/x", "s3://me:word@exports/x", "s3://exports/x?X-Amz-Signature=word", "https://example.org/a?key=word", "http://example.org/a", "S3://exports/x"]}}"#,
      "j.json:1: error: 'inputs.events[0]' must contain a valid bucket name, as in 's3://exports/'",
      "j.json:1: error: 'inputs.events[1]' contains credentials, which would appear in reports",
      "j.json:1: error: 'inputs.events[2]' contains credentials, which would appear in reports",
      "j.json:1: error: 'inputs.events[3]' has a query, a fragment or a wildcard, but must be the plain address of one file",
      "j.json:1: error: 'inputs.events[4]' is not a usable address: plain http is allowed only for connections to this machine; use https",
      "j.json:1: error: 'inputs.events[5]' has the unsupported scheme 'S3://'; write the scheme in lower case"),
    Case(
      #"{"name": "j", "inputs": {"events": [{"path": "x", "minRecords": 1.5, "label": ""}]}}"#,
      "j.json:1: error: 'inputs.events[0].minRecords' is a number, but must be an integer",
      "j.json:1: error: 'inputs.events[0].label' is empty"),
    Case(
      "{\"name\": \"j\", \"inputs\": {\"events\": [\"x\"]},\n\"as_of\": \"x\"}",
      "j.json:2: error: unknown key 'as_of'; did you mean 'asOf'?"),
    Case(
      #"{"name": "j", "inputs": {"events": ["x"]}, "colours": 1}"#,
      "j.json:1: error: unknown key 'colours'; known keys: name, configuration, settings, inputs, deepLinkRoutes, window, asOf, destination, identity, store, reports, outbox, tests, missed, profiles"
    ),
    Case(
      #"{"name": "j", "inputs": {"events": ["x"]}, "Session": {}}"#,
      "j.json:1: error: unknown key 'Session'; configuration sections belong under 'settings'"),
    Case(
      #"{"name": "", "inputs": {"events": ["x"]}}"#, "j.json:1: error: 'name' is empty"),
    Case(
      #"{"name": "j", "inputs": {"events": ["x"]}, "asOf": "2026-02-30T00:00:00Z"}"#,
      "j.json:1: error: 'asOf' is '2026-02-30T00:00:00Z', which is not a valid date; write a time such as '2026-01-31T00:00:00Z'"
    ),
    Case(
      #"{"name": "j", "inputs": {"events": ["x"]}, "window": {"from": "2026-02-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}}"#,
      "j.json:1: error: 'window.to' is not later than 'window.from'"),
    Case(
      #"{"name": "j", "inputs": {"events": ["x"]}, "destination": "deltaDNA"}"#,
      "j.json:1: error: 'destination' is 'deltaDNA', but must be one of 'engage', 'deltadna', 'unity'; did you mean 'deltadna'?"
    ),
    Case(
      #"{"name": "j", "inputs": {"events": ["x"]}, "identity": "yes"}"#,
      "j.json:1: error: 'identity' is a string, but must be a boolean"),
    Case(
      #"{"name": "j", "name": "k", "inputs": {"events": ["x"]}}"#,
      "j.json:1: error: key 'name' is set twice (first on line 1)"),
    Case(
      #"{"name": "j", "inputs": {"events": ["x"]}, "configuration": ["none.json"]}"#,
      "none.json: error: cannot be read: No such file or directory; the job's 'configuration' names this file"),
    Case(
      #"{"name": 5, "inputs": {"events": ["x"]}, "configuration": ["bad.json"], "settings": {"Sesion": {}}}"#,
      "j.json:1: error: 'name' is an integer, but must be a string",
      "bad.json:1: error: unknown section 'Uplod'; did you mean 'Upload'?",
      "j.json:1: error: unknown section 'Sesion'; did you mean 'Session'?"),
    Case(
      #"{"name": "j", "inputs": {"events": ["x"]}, "identity": true, "settings": {"AuditRecord": {"mergeHistoryInAuditRecordTable": true}}}"#,
      "j.json:1: error: 'AuditRecord.mergeHistoryInAuditRecordTable' is true, but 'AuditRecord.auditRecordListId' names no table; to create one, set 'mergeHistoryInAuditRecordTable' to false and run 'service prepare JOB --audit-table'"
    ),
  ]

  @Test(arguments: cases)
  func names(_ case: Case) throws {
    let folder = try TemporaryFolder(["j.json": `case`.json, "bad.json": #"{"Uplod": {}}"#])
    do {
      _ = try folder.loader().load(job: "j.json")
      Issue.record("accepted")
    } catch {
      #expect(error.faults.map(\.description) == `case`.faults)
      #expect(error.job != nil)
      #expect(error.exit == .configuration)
    }
  }

  /// An unknown key that nothing is near is reported with the known ones.
  @Test func theSchemaHasTheKeysThatAreRead() throws {
    let odd = #""01234567890123456789": 1"#
    let folder = try TemporaryFolder([
      "j.json":
        #"{"name": "j", "inputs": {"events": [{"path": "x", \#(odd)}], \#(odd)}, "window": {\#(odd)}, \#(odd)}"#
    ])
    let schema = try JSONNode.parse(Checkout.bytes("configs/schemas/job.json"))
    let entry = schema["definitions"]?["input"]?["anyOf"]?.array?.last
    let objects = [
      "": schema, "inputs.": schema["properties"]?["inputs"], "window.": schema["properties"]?["window"],
      "inputs.events[0].": entry,
    ]
    let errors = #expect(throws: ConfigurationErrors.self) { try folder.loader().load(job: "j.json") }
    #expect(errors?.faults.count == objects.count)
    for (name, object) in objects {
      let fault = errors?.faults.first { $0.problem == "unknown key '\(name)01234567890123456789'" }
      let known = fault?.hint?.split(separator: "known keys: ").last?.split(separator: ", ").map(String.init)
      let keys = object?["properties"]?.members?.map(\.key).filter { $0 != "$schema" }
      #expect(try Set(#require(known)) == Set(#require(keys)), "\(name)")
    }
  }

  @Test func takesNullAsAbsent() throws {
    let folder = try TemporaryFolder([
      "j.json":
        #"{"name": "j", "inputs": {"events": ["x"], "deepLinks": null}, "asOf": null, "window": null, "settings": null}"#
    ])
    let job = try folder.loader().load(job: "j.json").job
    #expect(job.asOf == nil)
    #expect(job.inputs.deepLinks == [])
  }

  @Test func countsAMissingJobAsAnErrorOfTheConfiguration() throws {
    let folder = try TemporaryFolder()
    do {
      _ = try folder.loader().load(job: "jobs/none.json")
      Issue.record("accepted")
    } catch {
      #expect(error.description == "jobs/none.json: error: cannot be read: No such file or directory")
      #expect(error.exit == .configuration)
    }
  }
}
