import BatchFoundation
import TestSupport
import Testing

@testable import BatchConfiguration

/// `${NAME}` in jobs and configurations (reference decisions 42).
@Suite struct VariableTests {
  @Test func standInPathsAndValuesOfAJob() throws {
    let folder = try TemporaryFolder([
      "jobs/job.json": """
      {"name": "${REGION}-${KIND:-nightly}", "configuration": ["${CONFIGS}/c.json"],
       "inputs": {"events": ["${DATA}/{yyyy}/$${b}/*.ndjson", "$${DATA}/x"]},
       "window": {"from": "${FROM}", "to": "2026-01-02T00:00:00Z"},
       "identity": "${IDENTITY}", "store": "${STORE:-../var/s.sqlite}", "destination": "${WHERE:-engage}",
       "settings": {"Upload": {"concurrency": "${REQUESTS}"}}}
      """,
      "c/c.json":
        #"{"Session": {"sessionLifecycleExpiration": "${MINUTES} minutes"}, "DeepLinks": {"universalLinkDomains": ["${HOST}"]}}"#,
    ])
    let loaded = try folder.loader([
      "REGION": "eu", "KIND": "", "CONFIGS": "../c", "DATA": "/data", "FROM": "2026-01-01T00:00:00Z",
      "IDENTITY": "true", "REQUESTS": "2", "MINUTES": "5", "HOST": "www.example.org",
    ]).load(job: "jobs/job.json")
    let job = loaded.job
    #expect(job.name == "eu-nightly")
    #expect(job.configuration == [folder.path + "/c/c.json"])
    #expect(job.inputs.events.flatMap(\.patterns) == ["/data/2026/${b}/*.ndjson", folder.path + "/jobs/${DATA}/x"])
    #expect(job.identity)
    #expect(job.store == folder.path + "/var/s.sqlite")
    #expect(job.destination == "engage")
    #expect(job.window.from == Instant(milliseconds: 1_767_225_600_000))
    #expect(loaded.configuration.settings.upload.concurrency == 2)
    #expect(loaded.configuration.settings.session.expiration == Milliseconds(300_000))
    #expect(loaded.configuration.settings.deepLinks.universalLinkDomains == ["www.example.org"])
  }

  @Test func stayAsTheyAreInPatternsOfDates() throws {
    let folder = try TemporaryFolder([
      "job.json": """
      {"name": "j", "inputs": {"events": ["${DATA}/{yyyy}.ndjson"]},
       "window": {"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"}}
      """
    ])
    let job = try folder.loader(["DATA": "/data"]).load(job: "job.json").job
    #expect(job.inputs.events.flatMap(\.patterns) == ["/data/2026.ndjson"])
  }

  @Test func areTheOriginOfAValue() throws {
    let folder = try TemporaryFolder([
      "c.json":
        #"{"Upload": {"concurrency": "${REQUESTS:-2}"}, "Session": {"sessionLifecycleExpiration": "${AWAY} minutes"}}"#
    ])
    let configuration = try folder.loader(["AWAY": "5"]).load(files: ["c.json"])
    let requests = try #require(configuration.resolved(named: "Upload.concurrency"))
    #expect(requests.explanation.contains("-> file: 2  [c.json:1, default of REQUESTS]\n"))
    let away = try #require(configuration.resolved(named: "Session.sessionLifecycleExpiration"))
    #expect(away.explanation.contains("-> file: 5 minutes  [c.json:1, variable AWAY]\n"))
    #expect((away.explanationDocument.text() + "\n").contains(#""variable AWAY""#))
  }

  @Test(
    arguments: [
      (
        #"{"Upload": {"concurrency": "${REQUESTS}"}}"#,
        "c.json:1: error: 'Upload.concurrency' names the variable REQUESTS, which is not set; set the variable, or write ${REQUESTS:-default}"
      ),
      (
        #"{"Upload": {"concurrency": "${NUMBER}"}}"#,
        "c.json:1: error: 'Upload.concurrency' is 'x', but must be an integer"
      ),
      (
        "{\"DeepLinks\": {\"universalLinkDomains\": [\"a.b\",\n\"${1A}\"]}}",
        "c.json:2: error: 'DeepLinks.universalLinkDomains[1]' contains '${1A}', which is not a variable; write ${NAME} or ${NAME:-default}, or $${ for a literal ${"
      ),
      (
        #"{"General": {"databaseListId": "${A-b}"}}"#,
        "c.json:1: error: 'General.databaseListId' contains '${A-b}', which is not a variable; write ${NAME} or ${NAME:-default}, or $${ for a literal ${"
      ),
      (
        #"{"General": {"databaseListId": "${A:-${NUMBER}}"}}"#,
        "c.json:1: error: 'General.databaseListId' contains '${A:-${NUMBER}', which is not a variable; write ${NAME} or ${NAME:-default}, or $${ for a literal ${"
      ),
      (
        #"{"General": {"databaseListId": "x ${"}}"#,
        "c.json:1: error: 'General.databaseListId' contains '${', which is not a variable; write ${NAME} or ${NAME:-default}, or $${ for a literal ${"
      ),
      (
        #"{"Connection": {"secret": "a${NUMBER:-canary}"}}"#,
        "c.json:1: error: 'Connection.secret' names the variable NUMBER, but secrets cannot contain variables; set ENGAGE_SECRET, or set ENGAGE_SECRET_FILE to the path of a file with the secret"
      ),
      (
        #"{"Connection": {"proxyCredentials": "canary${"}}"#,
        "c.json:1: error: 'Connection.proxyCredentials' names a variable, but secrets cannot contain variables"
      ),
      (
        #"{"General": {"databaseListId": "${ENGAGE_SECRET}"}}"#,
        "c.json:1: error: 'General.databaseListId' names the variable ENGAGE_SECRET, which holds a secret; remove the variable: the secret's own setting already reads it"
      ),
    ] as [(String, String)])
  func areRefused(json: String, message: String) throws {
    let folder = try TemporaryFolder(["c.json": json])
    #expect {
      try folder.loader(["NUMBER": "x", "ENGAGE_SECRET": "canary"]).load(files: ["c.json"])
    } throws: { error in
      guard let errors = error as? ConfigurationErrors else { return false }
      #expect(errors.description == message)
      return errors.exit == .configuration
    }
  }

  @Test func areNamedWithFileAndKeyInAJobAndInAPropertyList() throws {
    let folder = try TemporaryFolder([
      "job.json":
        #"{"name": "j", "inputs": {"events": ["${DATA}/x"]}, "settings": {"Connection": {"clientId": "${ID}"}}}"#,
      "job.plist": """
      <plist version="1.0"><dict><key>name</key><string>p</string>
      <key>inputs</key><dict><key>events</key><array><string>${DATA}</string></array></dict></dict></plist>
      """,
    ])
    let unset = "names the variable DATA, which is not set; set the variable, or write ${DATA:-default}"
    do {
      _ = try folder.loader().load(job: "job.json")
      Issue.record("accepted")
    } catch {
      #expect(
        error.description == """
          job.json:1: error: 'inputs.events[0]' \(unset)
          job.json:1: error: 'settings.Connection.clientId' names the variable ID, but secrets cannot contain variables; set ENGAGE_CLIENT_ID, or set ENGAGE_CLIENT_ID_FILE to the path of a file with the secret
          """)
    }
    do {
      _ = try folder.loader().load(job: "job.plist")
      Issue.record("accepted")
    } catch {
      #expect(error.description == "job.plist:2: error: 'inputs.events[0]' \(unset)")
    }
  }

  @Test func areLiteralWithTwoDollars() throws {
    let folder = try TemporaryFolder([
      "c.json": #"{"General": {"databaseListId": "$$${A}$B"}, "Connection": {"secret": "a$${b}"}}"#
    ])
    let settings = try folder.loader().load(files: ["c.json"]).settings
    #expect(settings.general.listId == "$${A}$B")
    #expect(settings.connection.clientSecret?.reveal() == "a${b}")
  }
}

/// Names of automatic fields (reference decisions 44).
@Suite struct AutomaticFieldTests {
  @Test(
    arguments: [
      (
        #"{"UBFFieldNames": {"UBFTagsFieldName": "Campaign Name"}}"#,
        [
          "c.json:1: error: 'UBFFieldNames.UBFTagsFieldName' and 'UBFFieldNames.UBFCurrentCampaignFieldName' give two attributes of the event 'received notification' the same name 'Campaign Name'; give one of them another name"
        ]
      ),
      (
        "{\"UBFFieldNames\": {\"UBFGoalNameFieldName\": \"X\",\n\"UBFLatitudeFieldName\": \"X\"}}",
        [
          "c.json:2: error: 'UBFFieldNames.UBFGoalNameFieldName' and 'UBFFieldNames.UBFLatitudeFieldName' give two attributes of the event 'goal abandoned' the same name 'X'; give one of them another name"
        ]
      ),
      (
        #"{"UBFFieldNames": {"UBFCallToActionFieldName": "Campaign Name"}}"#,
        [
          "c.json:1: error: 'UBFFieldNames.UBFCallToActionFieldName' and 'UBFFieldNames.UBFCurrentCampaignFieldName' give two attributes of the event 'link opened' the same name 'Campaign Name'; give one of them another name"
        ]
      ),
      (
        #"{"General": {"eventCodes": "acoustic-mobile"}, "UBFFieldNames": {"UBFEventNameFieldName": "appKey"}}"#,
        [
          "c.json:1: error: 'UBFFieldNames.UBFEventNameFieldName' and 'General.eventCodes' give two attributes of the event 'named event' the same name 'appKey'; give one of them another name"
        ]
      ),
      (
        #"{"General": {"eventCodes": {"base": "acoustic-mobile", "installed": {"code": "093"}}}}"#,
        [
          "c.json:1: error: 'General.eventCodes.installed.code' is '093', a code for events that only the service creates"
        ]
      ),
      // No event carries both of these, and a core name is allowed.
      (#"{"UBFFieldNames": {"UBFGoalNameFieldName": "Event Name", "UBFTagsFieldName": "Device Id"}}"#, []),
    ] as [(String, [String])])
  func differWithinAnEvent(json: String, faults: [String]) throws {
    #expect(try TemporaryFolder(["c.json": json]).faults(of: "c.json") == faults)
  }
}
