import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchConfiguration

@Suite struct SettingsSchemaTests {
  static let rows = SettingsSchema.current.settings

  @Test func everySpellingNamesOneSetting() {
    let spellings = Self.rows.flatMap { row in row.spellings.map { "\(row.section.rawValue).\($0)" } }
    #expect(Set(spellings).count == spellings.count)
    #expect(SettingSection.allCases.allSatisfy { !SettingsSchema.current.settings(in: $0).isEmpty })
  }

  /// A row without a place of its own in the settings would be read by nobody.
  @Test(arguments: rows.filter { !$0.isWithoutEffect }.map(\.name))
  func everySettingChangesTheSettings(name: String) throws {
    let setting = try #require(SettingsSchema.current.setting(named: name))
    var settings = try ConfigurationLoader(
      environment: [:], currentDirectory: "/", destinations: ["engage", "deltadna", "unity"],
      now: Instant(milliseconds: 0)
    ).load(files: []).settings
    let before = settings
    setting.store(try other(setting), &settings)
    #expect(settings != before)
  }

  /// A value that differs from the default.
  private func other(_ setting: Setting) throws -> JSONNode {
    switch setting.kind {
    case .boolean: return .flag(setting.fallback == false)
    case .integer, .integerOrText, .byteCount: return 987_654
    case .duration: return "987 s"
    case .text(.datePattern): return "yyyy"
    case .text: return "other"
    case .choice(let words), .choiceOrBoolean(let words, _, _):
      return JSONNode(.string(try #require(words.last { JSONNode(.string($0)) != setting.fallback })))
    case .list: return ["other"]
    case .eventCodes: return "acoustic-mobile"
    case .lookupTables: return [["file": "/t", "keyAttribute": "a", "keyColumn": "b", "columns": [:]]]
    }
  }

  @Test(arguments: [
    ("General.ubfEventCacheSize", "3"), ("Session.sessionLifecycleExpiration", "30 minutes"),
    ("LocationServices.lastKnownLocationDateFormat", "yyyy'-'MM'-'dd"),
    ("General.defaultCurrentCampaignExpiration", "1 day"),
    ("Networking.maxNumRetries", "3"), ("Upload.maxEventsPerRequest", "100"), ("Upload.maxBytesPerRequest", "1000000"),
    ("Upload.concurrency", "4"), ("Upload.onUnknown", "resend"), ("Ingest.maxLineBytes", "16777216"),
    ("Ingest.memoryLimit", "96000000"), ("Ingest.workers", "0"), ("Ingest.lateRecords", "accept"),
    ("Connection.oauthPath", "/oauth/token"),
    ("Connection.xmlapiPath", "/XMLAPI"), ("Connection.eventsPath", "/rest/events/submission"),
    ("Connection.eventErrorsPath", "/rest/events/errors"), ("Recipient.bulkThreshold", "5000"),
  ])
  func hasTheDocumentedDefault(name: String, expected: String) throws {
    let configuration = try ConfigurationLoader(
      environment: [:], currentDirectory: "/", destinations: ["engage", "deltadna", "unity"],
      now: Instant(milliseconds: 0)
    ).load(files: [])
    #expect(try #require(configuration.resolved(named: name)).given.text == expected)
  }

  @Test func everyVariableNamesASetting() {
    #expect(EnvironmentVariables.all.allSatisfy { SettingsSchema.current.setting(named: $0.setting) != nil })
  }

  @Test(arguments: [
    ("1", 1), ("64 MiB", 67_108_864), ("64MiB", 67_108_864), ("128 MB", 128_000_000), ("2 kB", 2000), ("5 B", 5),
  ])
  func readsByteCounts(text: String, expected: Int64) { #expect(SettingReader.byteCount(text) == expected) }

  @Test(arguments: ["", "MiB", "1.5 MiB", "-1", "1 mib", "9999999999 GiB", "1 MiB "])
  func refusesOtherByteCounts(text: String) { #expect(SettingReader.byteCount(text) == nil) }
}
