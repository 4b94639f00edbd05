import BatchFoundation
import TestSupport
import Testing

@testable import BatchConfiguration

@Suite struct LayerTests {
  @Test func laterLayersWinValueByValue() throws {
    let folder = try TemporaryFolder([
      "one.json": """
      {"General": {"databaseListId": "file-one", "ubfEventCacheSize": 7},
       "Session": {"sessionLifecycleExpiration": "1 minute"},
       "DeepLinks": {"universalLinkDomains": ["A.example.org", "b.example.org"]}}
      """,
      "two.plist": """
      <plist version="1.0"><dict><key>General</key><dict><key>engageListId</key><string>file-two</string></dict>
      <key>DeepLinks</key><dict><key>universalLinkDomains</key><array><string>c.example.org</string></array></dict></dict></plist>
      """,
      "jobs/job.json": """
      {"name": "j", "configuration": ["../one.json", "../two.plist"], "inputs": {"events": ["e.ndjson"]},
       "settings": {"Session": {"sessionLifecycleExpiration": "2 minutes"},
         "General": {"databaseListId": "job"},
         "Upload": {"concurrency": 2}}}
      """,
    ])
    let loaded = try folder.loader(["ENGAGE_LIST_ID": "environment"]).load(
      job: "jobs/job.json",
      CommandLineChanges(settings: [try #require(SettingOverride("Upload.concurrency=3"))]))
    let settings = loaded.configuration.settings
    #expect(settings.general.listId == "environment")
    #expect(loaded.configuration.resolved(named: "General.ubfEventCacheSize")?.given.value == 7)
    #expect(settings.general.campaignExpiration == Milliseconds(86_400_000))
    #expect(settings.session.expiration == Milliseconds(120_000))
    #expect(settings.upload.concurrency == 3)
    #expect(settings.deepLinks.universalLinkDomains == ["c.example.org"])
    let chain = try #require(loaded.configuration.resolved(named: "General.engageListId")).chain
    #expect(chain.map(\.layer) == [.defaults, .file, .file, .job, .environment])
    #expect(chain.map(\.text) == ["", "file-one", "file-two", "job", "environment"])
    #expect(
      chain.map(\.place.description) == [
        "built-in default", "one.json:1", "two.plist:1", "jobs/job.json:3", "ENGAGE_LIST_ID",
      ])
  }

  @Test func explainsTheWholeChain() throws {
    let folder = try TemporaryFolder([
      "c.json": "{\n\"Session\": {\n\"sessionLifecycleExpiration\": \"5 minutes\"}}"
    ])
    let configuration = try folder.loader().load(files: ["c.json"])
    let resolved = try #require(configuration.resolved(named: "Session.sessionLifecycleExpiration"))
    #expect(
      resolved.explanation == """
        Session.sessionLifecycleExpiration = 5 minutes
          Time in the background after which a session ends.
          (a string with a duration)
        -> file: 5 minutes  [c.json:3]
           default: 30 minutes  [built-in default]

        """)
    #expect(
      (resolved.explanationDocument.text() + "\n") == """
        {
          "key": "Session.sessionLifecycleExpiration",
          "value": "5 minutes",
          "summary": "Time in the background after which a session ends.",
          "chain": [
            {
              "layer": "default",
              "value": "30 minutes",
              "source": "built-in default"
            },
            {
              "layer": "file",
              "value": "5 minutes",
              "source": "c.json",
              "line": 3
            }
          ]
        }

        """)
  }

  @Test func redactsSecretsWhereverSettingsAreShown() throws {
    let folder = try TemporaryFolder([
      "c.json": #"{"Connection": {"refreshToken": "canary-1"}}"#, "secret": "canary-2\r\n",
    ])
    let configuration = try folder.loader([
      "ENGAGE_CLIENT_ID": "canary-3", "ENGAGE_SECRET_FILE": "secret", "DELTADNA_HASH_SECRET": "canary-4",
      "DELTADNA_ENVIRONMENT_KEY": "canary-5",
    ]).load(files: ["c.json"])
    #expect(configuration.settings.connection.clientSecret?.reveal() == "canary-2")
    #expect(configuration.settings.connection.refreshToken?.reveal() == "canary-1")
    #expect(configuration.settings.connection.clientId?.reveal() == "canary-3")
    let shown =
      (configuration.document.text() + "\n") + PropertyListText.of(configuration.document)
      + configuration.lines.joined(separator: "\n") + configuration.resolved.map(\.explanation).joined()
      + configuration.resolved.map { ($0.explanationDocument.text() + "\n") }.joined()
      + "\(configuration.settings)" + String(reflecting: configuration.settings)
    #expect(!shown.contains("canary"))
    #expect(configuration.lines.contains("Connection.secret = <redacted>"))
    #expect(configuration.lines.contains("Connection.proxyCredentials = "))
  }

  @Test func readsEveryVariable() throws {
    let folder = try TemporaryFolder()
    let configuration = try folder.loader([
      "ENGAGE_BASE_URL": "https://api.example.org/", "DELTADNA_COLLECT_URL": "collect.example.org/collect/api",
      "DELTADNA_ENGAGE_URL": "https://engage.example.org", "ENGAGE_SECRET": "", "ENGAGE_SECRET_FILE": "",
    ]).load(files: [])
    #expect(configuration.settings.connection.baseURL == "https://api.example.org")
    #expect(configuration.settings.deltaDNA.collectURL == "collect.example.org/collect/api")
    #expect(configuration.settings.deltaDNA.engageURL == "https://engage.example.org")
    #expect(configuration.settings.connection.clientSecret == nil)
  }

  @Test(arguments: [
    (
      ["ENGAGE_SECRET": "a", "ENGAGE_SECRET_FILE": "b"],
      "ENGAGE_SECRET: error: both ENGAGE_SECRET and ENGAGE_SECRET_FILE are set; unset one of them"
    ),
    (
      ["ENGAGE_SECRET_FILE": "none"],
      "ENGAGE_SECRET_FILE: error: the file 'none' cannot be read: No such file or directory"
    ),
    (["ENGAGE_SECRET_FILE": "empty"], "ENGAGE_SECRET_FILE: error: the file 'empty' is empty"),
    (
      ["ENGAGE_BASE_URL": "ftp://example.org"],
      "ENGAGE_BASE_URL: error: 'Connection.baseUrl' is 'ftp://example.org', but must be an http or https URL without a user name, query or fragment, such as 'https://api1.example.org'"
    ),
  ])
  func namesTheVariable(environment: [String: String], expected: String) throws {
    let folder = try TemporaryFolder(["empty": "\n"])
    #expect(throws: ConfigurationErrors.self) { try folder.loader(environment).load(files: []) }
    do {
      _ = try folder.loader(environment).load(files: [])
    } catch {
      #expect(error.description == expected)
      #expect(error.exit == .configuration)
    }
  }

  @Test func takesNullAsNotGiven() throws {
    let folder = try TemporaryFolder(["c.json": #"{"Session": null, "Upload": {"concurrency": null}}"#])
    let configuration = try folder.loader().load(files: ["c.json"])
    #expect(configuration.settings.upload.concurrency == 4)
    #expect(configuration.warnings == [])
  }

  @Test func acceptsEitherTypeWhereThePlatformsDiffer() throws {
    let folder = try TemporaryFolder([
      "c.json": #"""
      {"LocationServices": {"locationDistanceFilter": "25"}, "Ingest": {"maxLineBytes": "2 MiB", "memoryLimit": 64000000},
       "Report": {"personalData": true}}
      """#
    ])
    let configuration = try folder.loader().load(files: ["c.json"])
    #expect(configuration.lines.contains("LocationServices.locationDistanceFilter = 25"))
    #expect(configuration.settings.ingest.maxLineBytes == 2_097_152)
    #expect(configuration.settings.ingest.memoryLimit == 64_000_000)
    #expect(configuration.settings.report.personalData == .clear)
  }

  @Test func resolvesFilesFromTheFileThatNamesThem() throws {
    let folder = try TemporaryFolder([
      "a/c.json": #"""
      {"Connection": {"caFile": "../ca.pem"}, "Augmentation": {"lookupTables": [
        {"file": "weather.csv", "keyAttribute": "City", "columns": {"sky": "Sky"}},
        {"file": "../table.json", "keyAttribute": "Goal Name", "keyColumn": "goal", "columns": ["value"]}]}}
      """#,
      "ca.pem": "", "a/weather.csv": "", "table.json": "",
    ])
    let settings = try folder.loader().load(files: ["a/c.json"]).settings
    #expect(settings.connection.caFile == folder.path + "/ca.pem")
    #expect(
      settings.augmentation.lookupTables == [
        LookupTable(
          file: folder.path + "/a/weather.csv", keyAttribute: "City", keyColumn: "City",
          columns: [LookupTable.Column(name: "sky", attribute: "Sky")]),
        LookupTable(
          file: folder.path + "/table.json", keyAttribute: "Goal Name", keyColumn: "goal",
          columns: [LookupTable.Column(name: "value", attribute: "value")]),
      ])
  }

  @Test(arguments: [
    (
      "Augmentation.augmentationPluginClasses=UBFAddressAugmentationPlugin, com.x.UBFLocationNameAugmentationPlugin",
      [AugmentationPluginClass.address, .locationName]
    ),
    (#"Augmentation.augmentationPluginClasses=["UBFPlacemarkAugmentationPlugin"]"#, [.placemark]),
    ("Augmentation.augmentationPluginClasses=", []),
  ])
  func setsArrays(argument: String, expected: [AugmentationPluginClass]) throws {
    let folder = try TemporaryFolder()
    let override = try #require(SettingOverride(argument))
    let settings = try folder.loader().load(files: [], CommandLineChanges(settings: [override])).settings
    #expect(settings.augmentation.plugins == expected)
  }

  @Test(arguments: ["Session", "Session=1", ".x=1", "Session.=1", ""])
  func refusesOverridesOfAnotherForm(argument: String) { #expect(SettingOverride(argument) == nil) }
}
