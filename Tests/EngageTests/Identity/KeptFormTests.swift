import BatchFoundation
import BatchReport
import EngageRules
import RecipientModel
import Testing

@testable import Engage

/// A service that keeps values in its own form (reference decisions 61).
@Suite struct KeptFormTests {
  /// A column about each kind, what is written to it and what the service makes of that.
  struct Kept: CustomTestStringConvertible {
    var column: String
    var kind: ColumnKind
    var written: String
    var kept: String
    var testDescription: String { "\(column): \(written)" }
  }

  static let all = [
    Kept(column: "EMAIL", kind: .text, written: "Grete.Moll@Example.Test", kept: "grete.moll@example.test"),
    Kept(column: "points", kind: .number, written: "1234567", kept: "1234567.0"),
    Kept(column: "points", kind: .number, written: "1234567", kept: "1,234,567"),
    Kept(column: "points", kind: .number, written: "007", kept: "7"),
    Kept(column: "birthday", kind: .date, written: "01/31/1990", kept: "1/31/90 12:00 AM"),
    Kept(column: "joined", kind: .date, written: "03/04/2025 16:05:59", kept: "3/4/25 4:05 PM"),
    Kept(column: "joined", kind: .date, written: "2025-03-04T16:05:59.000Z", kept: "03/04/2025 16:05:00"),
    Kept(column: "phone", kind: .phone, written: "+49 (30) 5550-17", kept: "4930555017"),
    Kept(column: "newsletter", kind: .yesNo, written: "true", kept: "Yes"),
    Kept(column: "nickname", kind: .text, written: "  Gretchen ", kept: "Gretchen"),
    Kept(
      column: "device_key", kind: .text, written: "0F3C7A52-8A1B-4C77-9D10-55E0AA0BB1C2",
      kept: "0f3c7a52-8a1b-4c77-9d10-55e0aa0bb1c2"),
  ]

  private func bench(
    _ columns: [String: ColumnKind], _ keeps: @escaping @Sendable (String, String) -> String
  ) throws -> Bench {
    let bench = try Bench([loser: ["Mobile User Id": userA]], settings: .fixture(audit: true))
    bench.service.change { state in
      state.keeps = keeps
      for (column, kind) in columns {
        state.columns.insert(ByteText(column))
        state.kinds[ByteText(column)] = kind
      }
    }
    return bench
  }

  private func holds(_ change: ColumnChange, on image: RecipientImage, _ bench: Bench) throws -> Bool {
    let columns = WrittenColumns(
      settings: bench.settings, database: bench.service, retryPolicy: bench.reconciler.retryPolicy)
    return try columns.holds(change, on: image)
  }

  @Test(arguments: all)
  func whatIsKeptInAnotherFormIsThere(_ kept: Kept) throws {
    let bench = try bench([kept.column: kept.kind]) { $0 == kept.column && $1 == kept.written ? kept.kept : $1 }
    try bench.add(bench.check([(kept.column, kept.written)]))
    let result = try bench.reconcile()
    #expect(result.failure == nil)
    #expect([result.figures.updated, result.figures.conflicts, result.figures.refused] == [1, 0, 0])
    let image = try #require(try bench.service.read(loser))
    #expect(image[kept.column] == kept.kept)
    // What a run takes for there, `verify` does too.
    let change = ColumnChange(name: kept.column, before: "", after: kept.written)
    #expect(try holds(change, on: image, bench))
    #expect(try !holds(ColumnChange(name: kept.column, before: "", after: "1" + kept.written), on: image, bench))
    // The next night finds it.
    try bench.add(bench.check("d-2", at: 1000, emission: 6, [(kept.column, kept.written)]))
    let again = try bench.reconcile()
    #expect([again.figures.updated, again.figures.conflicts, again.figures.refused] == [0, 0, 0])
  }

  /// Half a merge: the loser was marked and the winner had the id, without an audit row.
  @Test func aMobileUserIdInLowerCaseDoesNotStopAMerge() throws {
    let bench = try bench([:]) { $0 == "Mobile User Id" ? $1.lowercased() : $1 }
    bench.service.change { $0.recipients[winner] = ["customer_id": "c-1"] }
    try bench.add(bench.check())
    let result = try bench.reconcile()
    #expect([result.figures.merged, result.figures.auditRows, result.figures.conflicts] == [1, 1, 0])
    #expect(bench.service.recipients[winner]?["Mobile User Id"] == userA.lowercased())
  }

  @Test func aColumnOfBlanksIsEmpty() throws {
    let bench = try bench([:]) { $1 }
    bench.service.change { $0.recipients[loser]?["Merged Recipient Id"] = "   " }
    try bench.add(bench.check())
    let result = try bench.reconcile()
    #expect(result.figures.updated == 1)
    #expect(bench.service.recipients[loser]?["customer_id"] == "c-1")
  }

  @Test(arguments: [true, false])
  func aTextThatIsCutIsLookedUpWhole(isFound: Bool) throws {
    let name = "a-customer-number-that-is-too-long"
    let bench = try bench([:]) { $0 == "customer_id" ? String($1.prefix(10)) : $1 }
    if !isFound { bench.service.change { $0.searches = { $1 } } }
    try bench.add(bench.check([("customer_id", name)]))
    let result = try bench.reconcile()
    let plans = try bench.store.merges.openPlans()
    if isFound {
      #expect([result.figures.updated, result.figures.refused] == [1, 0])
      let image = try #require(try bench.service.read(loser))
      #expect(image["customer_id"] == "a-customer")
      #expect(try holds(ColumnChange(name: "customer_id", before: "", after: name), on: image, bench))
      // Another device of the same person is answered with the part that is kept.
      try bench.add(bench.check("d-2", at: 1000, emission: 6, [("customer_id", name)]))
      let again = try bench.reconcile()
      #expect([again.figures.updated, again.figures.conflicts, again.figures.refused] == [0, 0, 0])
      // Whom no plan gave this id is somebody else.
      let other = "a-customer-of-somebody-else"
      try bench.add(bench.check("d-2", at: 2000, emission: 7, [("customer_id", other)]))
      #expect(try bench.reconcile().figures.refused == 1)
    } else {
      #expect([result.figures.conflicts, result.figures.refused] == [0, 1])
      #expect(plans.first?.reason.contains("column 'customer_id' truncated the value") == true, "\(plans)")
    }
  }

  @Test(arguments: [
    (ColumnKind.text, " Anna\t", "Anna"), (.text, "\u{A0}Anna\u{2003}", "Anna"), (.time, "15:04:05", "3:04 PM"),
    (.time, "00:05", "12:05 AM"), (.time, "9:05", "09:05:00"), (.email, "Ada@X.Test", "ada@x.test"),
    (.number, "-0.50", "-.5"),
    (.number, "+7", "7.000"), (.number, "12,345.60", "12345.6"), (.number, "-0", "0"), (.number, "1000", "1E3"),
    (.number, "900000000500", "9.000000005E+11"),
    (.number, "-0.0125", "-1.25e-2"),
    (.date, "01/28/2015 01:36:50 GMT", "1/28/15 1:36 AM"), (.date, "06/25/2026 03:29:00 PM", "6/25/26 3:29 PM"),
    (.date, "06/25/26 03:29 PM", "06/25/2026 15:29:00"), (.date, "2026-06-25", "06/25/2026"),
    (.date, "2026-06-25T15:29:07.250Z", "6/25/26 3:29 PM"), (.date, "12/31/2025 00:05:00", "12/31/25 12:05 AM"),
    (.date, "12/31/2025 12:05:00", "12/31/25 12:05 PM"), (.date, "12/31/2025 23:05:00", "2025-12-31"),
    (.phone, "(030) 55-17", "0305517"), (.yesNo, "Y", "true"), (.yesNo, "0", "No"), (.yesNo, "FALSE", "n"),
    (.other, " DE", "DE"),
  ])
  func aFormOfTheServiceIsTheSameValue(_ kind: ColumnKind, _ written: String, _ kept: String) {
    #expect(kind.keeps(written, as: kept))
  }

  @Test(arguments: [
    (ColumnKind.text, "Anna", "anna"), (.time, "15:04:05", "4:04 PM"), (.time, "15:04", "3:04 AM"), (.time, "x", "x y"),
    (.time, "12:30:99", "12:30 PM"),
    (.text, "12345", "123"), (.number, "12", "12.5"), (.number, "1,2", "12"),
    (.number, "1000", "1E2"), (.number, "1", "1E"),
    (.date, "01/31/1990", "1/31/90 5:00 PM"), (.date, "01/31/1990", "2/1/90 12:00 AM"), (.phone, "555-17", "555-18"),
    (.yesNo, "yes", "no"), (.yesNo, "perhaps", "yes"), (.other, "DE", "de"), (.email, "a@x.test", "b@x.test"),
    (.number, "1234", "1,23,4"), (.number, "12a", "12"), (.number, "0.1", "0.10001"), (.phone, "no number", "none"),
    (.date, "06/25/2026", "2026-06-26"), (.date, "01/28/1915", "01/28/2015"), (.date, "12:05:00", "12:05:30"),
    (.date, "12/31/2025 12:05:00", "12/31/25 12:05 AM"), (.yesNo, "1", "n"), (.text, "", "x"), (.text, "x", " "),
  ])
  func anotherValueIsAnother(_ kind: ColumnKind, _ written: String, _ kept: String) {
    #expect(!kind.keeps(written, as: kept))
  }
}
