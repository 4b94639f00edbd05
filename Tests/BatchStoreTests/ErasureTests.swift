import BatchFoundation
import EngageRules
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

@Suite struct ErasureTests {
  let folder: TemporaryFolder
  let fixtures = EventFixtures()

  init() throws { folder = try TemporaryFolder() }

  private func erase(_ store: EventStore, _ ids: PersonID..., rehearsal: Bool = false) throws -> ErasureReport {
    try store.erasures.erase(
      ids, at: .fixture, ErasureOptions(admitsFoundDevices: false, isRehearsal: rehearsal)
    ) { _ in { _ in false } }
  }

  private func damage(_ store: EventStore) throws -> [StoreDamage] {
    var damage: [StoreDamage] = []
    try store.check { damage.append($0) }
    return damage
  }

  @Test(
    "A long id counts where it stands alone, a short one as a text only, and neither as a part of another",
    arguments: [
      ("ada-lovelace", #"{"a":"ada-lovelace"}"#, true), ("ada-lovelace", "app://x?u=ada-lovelace&b", true),
      ("ada-lovelace", #"{"a":"ada-lovelace2"}"#, false), ("ada-lovelace", "my-ada-lovelace", false),
      ("ada", #"{"a":"ada"}"#, true), ("ada", "app://x?u=ada&b", false), ("a\"b", #"{"a":"a\"b"}"#, true),
      ("user\tname-1", #"x user\tname-1"#, true),
    ])
  func traces(id: String, text: String, stands: Bool) {
    #expect(PersonTrace(Array(id.utf8)).occurs(in: Array(text.utf8)) == stands)
    let erased = PersonTrace(Array(id.utf8)).erased(from: Array(text.utf8))
    #expect((erased != nil) == stands)
    if let erased { #expect(String(decoding: erased, as: UTF8.self).contains("[forgotten]")) }
  }

  @Test(
    "An id that occurs in the replacement is erased once, and is no trace there",
    arguments: [
      ("forgotten", #"{"a":"forgotten","b":"x forgotten"}"#, #"{"a":"[forgotten]","b":"x [forgotten]"}"#),
      ("[forgotten]", #"{"a":"[forgotten]"}"#, nil), ("forgotten", #"{"a":"[forgotten]"}"#, nil),
      ("gotten]", #"{"a":"gotten]","b":"[forgotten]"}"#, #"{"a":"[forgotten]","b":"[forgotten]"}"#),
    ] as [(String, String, String?)])
  func traceOfTheReplacement(id: String, text: String, left: String?) {
    let trace = PersonTrace(Array(id.utf8))
    let erased = trace.erased(from: Array(text.utf8))
    #expect(erased.map { String(decoding: $0, as: UTF8.self) } == left)
    #expect(!trace.occurs(in: erased ?? Array(text.utf8)))
  }

  @Test func eventsOfOthersInTheSameRequestStayAndThaw() throws {
    let events = [
      fixtures.event(1, device: "ada-phone", emission: 1), fixtures.event(2, device: "bob-phone", emission: 1),
      fixtures.event(3, device: "bob-phone", emission: 2, recipient: "1001"),
      fixtures.event(4, device: "bob-phone", emission: 3, recipient: "10012"),
    ]
    let (store, run) = try folder.filled(events)
    let chunk = try #require(try store.ledger.pendingChunks(after: nil, limit: 1).first)
    let attempt = try store.ledger.begin(chunk, run)
    _ = try store.ledger.end(run, chunk, attempt, .acknowledged, .posted)
    #expect(
      try erase(store, PersonID(.device, "ada-phone"), PersonID(PersonID.Kind("recipient"), "1001"), rehearsal: true)
        .counts == ["SUCCESSFULLY_POSTED": 2])
    #expect(try store.erasures.proofs() == [])
    let report = try erase(store, PersonID(.device, "ada-phone"), PersonID(PersonID.Kind("recipient"), "1001"))
    #expect(report.counts == ["SUCCESSFULLY_POSTED": 2])
    #expect(try damage(store) == [])
    #expect(try store.ledger.statusCounts() == [.successfullyPosted: 4])
    var left: [Int64] = []
    try store.ledger.forEachEvent(status: nil) {
      left.append($0.emission)
      return true
    }
    #expect(left == [1, 3])
    let forgotten = try store.erasures.forgottenPeople()
    #expect(forgotten.contains(.device, "ada-phone") && !forgotten.contains(.device, "bob-phone"))
    #expect(forgotten.contains(PersonID.Kind("recipient"), "1001") && !forgotten.contains(.device, "1001"))
  }

  @Test func aPartOfAPostedRequestThatWasPurgedIsNoDamage() throws {
    let day: Int64 = 86_400_000
    let events = [fixtures.event(1, emission: 1), fixtures.event(3 * day, emission: 2)]
    let (store, run) = try folder.filled(events)
    let chunk = try #require(try store.ledger.pendingChunks(after: nil, limit: 1).first)
    let attempt = try store.ledger.begin(chunk, run)
    _ = try store.ledger.end(run, chunk, attempt, .acknowledged, .posted)
    #expect(
      try store.retention.purge(asOf: Instant(milliseconds: 3 * day), days: 1) == PurgeReport(purged: 1, kept: 0))
    #expect(try damage(store) == [])
  }
}
