import BatchFoundation
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import BatchConfiguration

/// Every message that people see about a configuration, word for word.
@Suite struct FaultTests {
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
      #"{"Sesion": {}}"#, "c.json:1: error: unknown section 'Sesion'; did you mean 'Session'?"),
    Case(
      #"{"session": {}}"#, "c.json:1: error: unknown section 'session'; did you mean 'Session'?"),
    Case(
      #"{"maxNumRetries": 3}"#,
      "c.json:1: error: unknown section 'maxNumRetries'; 'maxNumRetries' belongs in 'Networking'"),
    Case(
      "{\"Session\": {\n\"sessionLifecycleExpiraton\": \"5 minutes\"}}",
      "c.json:2: error: unknown key 'Session.sessionLifecycleExpiraton'; did you mean 'Session.sessionLifecycleExpiration'?"
    ),
    Case(
      #"{"Session": {"maxNumRetries": 3}}"#,
      "c.json:1: error: unknown key 'Session.maxNumRetries'; did you mean 'Networking.maxNumRetries'?"),
    Case(
      #"{"Session": {"colour": 3}}"#,
      "c.json:1: error: unknown key 'Session.colour'; known keys of Session: sessionLifecycleExpiration"),
    Case(#"[]"#, "c.json:1: error: the configuration is an array, but must be an object"),
    Case(#"{"Session": "x"}"#, "c.json:1: error: 'Session' is a string, but must be an object"),
    Case(
      "{\"Session\": {},\n\"Session\": {}}", "c.json:2: error: key 'Session' is set twice (first on line 1)"),
    Case(
      "{\"Networking\": {\"maxNumRetries\": 1,\n\"maxNumRetries\": 2}}",
      "c.json:2: error: key 'Networking.maxNumRetries' is set twice (first on line 1)"),
    Case(
      "{\"General\": {\"databaseListId\": \"1\",\n\"engageListId\": \"2\"}}",
      "c.json:2: error: 'General.engageListId' is another spelling of 'General.databaseListId', which is set on line 1"
    ),
    Case(
      #"{"Networking": {"maxNumRetries": "3"}}"#,
      "c.json:1: error: 'Networking.maxNumRetries' is a string, but must be an integer"),
    Case(
      #"{"Networking": {"maxNumRetries": 3.0}}"#,
      "c.json:1: error: 'Networking.maxNumRetries' is '3.0', but must be an integer"),
    Case(
      #"{"Recipient": {"enableAutoAnonymousTracking": "true"}}"#,
      "c.json:1: error: 'Recipient.enableAutoAnonymousTracking' is a string, but must be a boolean"),
    Case(
      #"{"Recipient": {"enableAutoAnonymousTracking": 1}}"#,
      "c.json:1: error: 'Recipient.enableAutoAnonymousTracking' is an integer, but must be a boolean"),
    Case(
      #"{"Upload": {"concurrency": 9}}"#, "c.json:1: error: 'Upload.concurrency' is 9, but must be between 1 and 8"),
    Case(
      #"{"Upload": {"onUnknown": "resent"}}"#,
      "c.json:1: error: 'Upload.onUnknown' is 'resent', but must be one of 'resend', 'hold'; did you mean 'resend'?"),
    Case(
      #"{"Session": {"sessionLifecycleExpiration": "5 minuten"}}"#,
      "c.json:1: error: 'Session.sessionLifecycleExpiration' is '5 minuten', which is not a valid duration: it has an unknown unit; write a duration such as '30 minutes' or '1 day 12 hours'"
    ),
    Case(
      #"{"Session": {"sessionLifecycleExpiration": "-5 minutes"}}"#,
      "c.json:1: error: 'Session.sessionLifecycleExpiration' is '-5 minutes', which is not a valid duration: it must consist of whole numbers, each followed by a unit; write a duration such as '30 minutes' or '1 day 12 hours'"
    ),
    Case(
      #"{"Session": {"sessionLifecycleExpiration": "2024/01/01 00:00:00"}}"#,
      "c.json:1: error: 'Session.sessionLifecycleExpiration' is '2024/01/01 00:00:00', which is not a valid duration: it is a date; write a duration such as '30 minutes' or '1 day 12 hours'"
    ),
    Case(
      #"{"Session": {"sessionLifecycleExpiration": 300}}"#,
      "c.json:1: error: 'Session.sessionLifecycleExpiration' is an integer, but must be a string with a duration"),
    Case(
      #"{"Connection": {"connectTimeout": "0 seconds"}}"#,
      "c.json:1: error: 'Connection.connectTimeout' is '0 seconds', but must be at least 1 second"),
    Case(
      #"{"Ingest": {"maxLineBytes": "16 Mb"}}"#,
      "c.json:1: error: 'Ingest.maxLineBytes' is '16 Mb', but must be a number of bytes; write a size such as 1000000, '64 MiB' or '128 MB'"
    ),
    Case(
      #"{"UBFFieldNames": {"UBFTagsFieldName": ""}}"#,
      "c.json:1: error: 'UBFFieldNames.UBFTagsFieldName' is '', but must be a nonempty name without control characters"
    ),
    Case(
      #"{"Connection": {"baseUrl": "http://api.example.org"}}"#,
      "c.json:1: error: 'Connection.baseUrl' is 'http://api.example.org', but must be an https URL; http is allowed for loopback addresses only"
    ),
    Case(
      #"{"Connection": {"baseUrl": "https://api.example.org?x"}}"#,
      "c.json:1: error: 'Connection.baseUrl' is 'https://api.example.org?x', but must be an http or https URL without a user name, query or fragment, such as 'https://api1.example.org'"
    ),
    Case(
      #"{"Connection": {"xmlapiPath": "XMLAPI"}}"#,
      "c.json:1: error: 'Connection.xmlapiPath' is 'XMLAPI', but must be an ASCII path that begins with '/', without spaces, query or fragment"
    ),
    Case(
      #"{"LocationServices": {"lastKnownLocationDateFormat": "dd MMM yyyy"}}"#,
      "c.json:1: error: 'LocationServices.lastKnownLocationDateFormat' is 'dd MMM yyyy', but must be a date format without 'MMM'; put words in single quotes, as in yyyy'-'MM'-'dd"
    ),
    Case(
      #"{"Connection": {"secret": 5}}"#, "c.json:1: error: 'Connection.secret' is an integer, but must be a string"),
    Case(
      #"{"Augmentation": {"augmentationPluginClasses": ["UBFCoordinatesAugmentationPlugin", 5]}}"#,
      "c.json:1: error: 'Augmentation.augmentationPluginClasses[1]' is an integer, but must be a string"),
    Case(
      #"{"Augmentation": {"lookupTables": [{"file": "w.csv", "keyAtribute": "City", "columns": ["Sky"]}]}}"#,
      "c.json:1: error: 'Augmentation.lookupTables[0]' has no 'keyAttribute'",
      "c.json:1: error: unknown key 'Augmentation.lookupTables[0].keyAtribute'; did you mean 'Augmentation.lookupTables[0].keyAttribute'?"
    ),
    Case(
      #"{"Augmentation": {"lookupTables": [{"keyAttribute": "City", "columns": ["Sky"]}]}}"#,
      "c.json:1: error: 'Augmentation.lookupTables[0]' has no 'file'"),
    Case(
      #"{"DeepLinks": {"universalLinkDomains": ["https://www.example.org"]}}"#,
      "c.json:1: error: 'DeepLinks.universalLinkDomains[0]' is 'https://www.example.org', but must be a host name such as 'www.example.org' or '*.example.org'"
    ),
    Case(
      #"{"name": "j", "inputs": {"events": ["e"]}}"#,
      "c.json:1: error: the file is a job, not a configuration; name the job with --job"),
    Case(
      #"{"Connection": {"caFile": "none.pem"}}"#,
      "c.json:1: error: 'Connection.caFile' names the file 'none.pem', which cannot be read"),
    Case(
      #"{"Augmentation": {"lookupTables": [{"file": "w.csv", "keyAttribute": "City", "columns": ["Sky"]}]}}"#,
      "c.json:1: error: 'Augmentation.lookupTables' names the file 'w.csv', which cannot be read"),
    Case(
      "{\n",
      "c.json:2: error: not valid JSON (column 1): expected a key in double quotes or '}' in the document, which begins on line 1"
    ),
    Case(
      #"{"Networking": {"secureConnection": false}}"#,
      "c.json:1: warning: 'Networking.secureConnection' is set, but has no effect in a batch run"),
    Case(
      "{\"Networking\": {\n\"breakerPause\": \"1 minute\"}}",
      "c.json:2: warning: 'Networking.breakerPause' is set, but has no effect in a batch run"),
    Case(
      #"{"LocationServices": {"locationMilliUpdateInterval": 1}}"#,
      "c.json:1: warning: 'LocationServices.locationMilliUpdateInterval' is set, but has no effect in a batch run"),
    Case(
      #"{"Augmentation": {"ubfAugmentorClassNames": ["com.example.Weather"]}}"#,
      "c.json:1: warning: 'Augmentation.augmentationPluginClasses' names 'com.example.Weather', which is not a known plug-in; it is skipped"
    ),
    Case(
      #"{"AuditRecord": {"mergeHistoryInAuditRecordTable": true}}"#,
      "c.json:1: warning: 'AuditRecord.mergeHistoryInAuditRecordTable' is true, but 'AuditRecord.auditRecordListId' names no table; to create one, set 'mergeHistoryInAuditRecordTable' to false and run 'service prepare JOB --audit-table'"
    ),
    Case(
      "{\"Sesion\": {},\n\"Upload\": {\"concurrency\": 0,\n\"concurency\": 1}}",
      "c.json:1: error: unknown section 'Sesion'; did you mean 'Session'?",
      "c.json:2: error: 'Upload.concurrency' is 0, but must be between 1 and 8",
      "c.json:3: error: unknown key 'Upload.concurency'; did you mean 'Upload.concurrency'?"),
  ]

  @Test(arguments: cases)
  func names(_ case: Case) throws {
    let folder = try TemporaryFolder(["c.json": `case`.json])
    #expect(folder.faults(of: "c.json") == `case`.faults)
  }

  @Test func namesTheLineOfAPropertyList() throws {
    let folder = try TemporaryFolder([
      "c.plist": """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0">
      <dict>
        <key>Networking</key>
        <dict>
          <key>maxNumRetries</key>
          <string>3</string>
        </dict>
      </dict>
      </plist>
      """
    ])
    #expect(
      folder.faults(of: "c.plist")
        == ["c.plist:7: error: 'Networking.maxNumRetries' is a string, but must be an integer"])
  }

  @Test func neverNamesTheValueOfASecret() throws {
    let folder = try TemporaryFolder(["c.json": #"{"Connection": {"secret": ["canary"]}}"#])
    #expect(folder.faults(of: "c.json") == ["c.json:1: error: 'Connection.secret' is an array, but must be a string"])
  }

  @Test(arguments: ["Connection.baseUrl", "Connection.proxy", "DeltaDNA.collectURL"])
  func neverNamesThePasswordOfAURL(name: String) throws {
    let folder = try TemporaryFolder(["c.json": "{}"])
    let override = try #require(SettingOverride("\(name)=https://user:canary@example.org"))
    let faults = folder.faults(of: "c.json", [override])
    #expect(faults.count == 1)
    #expect(faults.allSatisfy { $0.hasPrefix("--set \(name): error: '\(name)' is '<redacted>', but must be ") })
    #expect(!faults.joined().contains("canary"))
  }

  @Test func refusesItsOwnMarkForASecret() throws {
    let folder = try TemporaryFolder(["c.json": #"{"Connection": {"secret": "<redacted>"}}"#])
    #expect(
      folder.faults(of: "c.json")
        == ["c.json:1: error: 'Connection.secret' is the placeholder for a secret, not the secret itself"])
  }

  @Test func warnsOfASecretThatOthersCanRead() throws {
    let folder = try TemporaryFolder(["c.json": #"{"Connection": {"secret": "canary"}}"#])
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path + "/c.json")
    #expect(
      folder.faults(of: "c.json") == [
        "c.json:1: warning: 'Connection.secret' is in a file that other users can read; protect the file with chmod 600, or put the secret in a separate file and set NAME_FILE to its path, where NAME is the setting's environment variable"
      ])
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path + "/c.json")
    #expect(folder.faults(of: "c.json") == [])
  }

  @Test func countsAMissingFileAsAnErrorOfTheConfiguration() throws {
    let folder = try TemporaryFolder()
    #expect {
      try folder.loader().load(files: ["none.json"])
    } throws: { error in
      guard let errors = error as? ConfigurationErrors else { return false }
      return errors.exit == .configuration
        && errors.description == "none.json: error: cannot be read: No such file or directory"
    }
  }

  @Test(arguments: [
    (
      "Session.sessionLifecycleExpiration=soon",
      "--set Session.sessionLifecycleExpiration: error: 'Session.sessionLifecycleExpiration' is 'soon', which is not a valid duration: it must consist of whole numbers, each followed by a unit; write a duration such as '30 minutes' or '1 day 12 hours'"
    ),
    ("Sessions.x=1", "--set Sessions.x: error: unknown section 'Sessions'; did you mean 'Session'?"),
    (
      "Upload.concurency=1",
      "--set Upload.concurency: error: unknown key 'Upload.concurency'; did you mean 'Upload.concurrency'?"
    ),
    (
      "Upload.concurrency=two", "--set Upload.concurrency: error: 'Upload.concurrency' is 'two', but must be an integer"
    ),
    (
      "Recipient.contactIdInHeader=yes",
      "--set Recipient.contactIdInHeader: error: 'Recipient.contactIdInHeader' is 'yes', but must be 'true' or 'false'"
    ),
    (
      "Connection.secret=canary",
      "--set Connection.secret: warning: other users of the machine can see a secret on the command line; put the secret in a file and set NAME_FILE to its path, where NAME is the setting's environment variable"
    ),
  ])
  func namesTheOption(argument: String, expected: String) throws {
    let folder = try TemporaryFolder(["c.json": "{}"])
    let override = try #require(SettingOverride(argument))
    #expect(folder.faults(of: "c.json", [override]) == [expected])
  }

  /// Each used to cost a third of a millisecond and a line.
  @Test func manyUnknownKeysAreCounted() throws {
    let keys = (0..<50_000).map { #""key\#($0)": 1"# }.joined(separator: ",")
    let folder = try TemporaryFolder(["c.json": "{\"Session\": {\(keys)}}"])
    let faults = folder.faults(of: "c.json")
    #expect(faults.count == 201)
    #expect(faults[0].hasPrefix("c.json:1: error: unknown key 'Session.key0'; known keys of Session:"))
    #expect(faults[200] == "c.json: error: 49,800 more findings are not shown")
  }

  @Test func aLongKeyIsShortened() throws {
    let folder = try TemporaryFolder(["c.json": "{\"Session\": {\"\(String(repeating: "k", count: 100_000))\": 1}}"])
    #expect(folder.faults(of: "c.json").allSatisfy { $0.utf8.count < 1200 })
  }

  @Test func aFIFOIsNoConfiguration() throws {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder.path + "/c.json", 0o600) == 0)
    #expect(folder.faults(of: "c.json") == ["c.json: error: it is a FIFO, not a regular file"])
    #expect(throws: ConfigurationErrors.self) { try folder.loader().load(job: "c.json") }
  }
}
