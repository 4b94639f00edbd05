import BatchFoundation
import BatchStore
import FoundationEssentials
import RecipientModel
import Testing

@testable import Engage

/// Every fault at every call and every change of the journal, forward and on the way back (reference identity 5.6); each kind of merge with one
/// choice of history and audit, or with `ENGAGE_SWEEP=full` with all.
@Suite struct SweepTests {
  enum Kind: String, CaseIterable {
    case s1, s2, s2KeyedByUser, s3
  }

  static let sweepsAll = ProcessInfo.processInfo.environment["ENGAGE_SWEEP"] == "full"

  struct Case: Sendable, CustomTestStringConvertible {
    var kind: Kind
    var history: Bool
    var audit: Bool

    var testDescription: String { "\(kind.rawValue)\(history ? " history" : "")\(audit ? " audit" : "")" }

    static let all = Kind.allCases.enumerated().flatMap { turn, kind in
      [(true, true), (true, false), (false, true), (false, false)].enumerated().filter {
        sweepsAll || $0.offset == turn
      }
      .map { Case(kind: kind, history: $0.element.0, audit: $0.element.1) }
    }
  }

  enum Point: Hashable {
    case none
    case call(Int, Injection)
    case change(Int, before: Bool)
  }

  /// One merge in a store and a service of its own names, so that thousands can share one store.
  struct Trial {
    var bench: Bench
    let loser: String
    let winner: String
    let device: String
    let before: [String: [String: String]]
    let after: [String: [String: String]]
    let rows: [String: [String: String]]

    init(_ bench: Bench, _ this: Case, number: Int) throws {
      self.bench = bench
      loser = "\(900_000_100_000 + 2 * number)"
      winner = "\(900_000_100_001 + 2 * number)"
      device = "d-\(number)"
      var images = [loser: ["Mobile User Id": userA]]
      switch this.kind {
      case .s1: break
      case .s2, .s2KeyedByUser: images[winner] = ["customer_id": "c-1"]
      case .s3: images[winner] = ["customer_id": "c-1", "Mobile User Id": userB]
      }
      before = images
      let mark = ["Merged Recipient Id": winner, "Merged Date": nowText]
      switch this.kind {
      case .s1: images[loser]?["customer_id"] = "c-1"
      case .s2, .s2KeyedByUser:
        images[loser] = this.history ? mark : [:]
        images[winner]?["Mobile User Id"] = userA
      case .s3: if this.history { images[loser]?.merge(mark) { $1 } }
      }
      after = images
      let row = ["Old Recipient Id": loser, "New Recipient Id": winner, "Create Date": nowText]
      rows = this.audit && this.kind != .s1 ? [Self.key(loser, winner): row] : [:]
      let start = before
      bench.service.change {
        $0.recipients = start
        $0.rows = [:]
        $0.key = this.kind == .s2KeyedByUser ? ["Mobile User Id"] : []
      }
      try bench.add(bench.check(device, recipient: loser))
    }

    static func key(_ loser: String, _ winner: String) -> String {
      NameUUID.mergeKey(list: "50001", loser: loser, winner: winner, earlier: 0)
    }

    /// - Returns: whether the point was reached.
    func attempt(_ point: Point, tries: Int = 1, _ body: (IdentityReconciler) throws -> Void) throws -> Bool {
      var killer = Killer(bench.service)
      var injections: [Int: Injection] = [:]
      switch point {
      case .none: break
      case .call(let number, let injection): injections[number] = injection
      case .change(let number, let before):
        killer = Killer(bench.service, at: number, point: before ? .beforeJournal : .afterJournal)
      }
      bench.service.restart(injections)
      var reconciler = bench.reconciler
      reconciler.retryPolicy.tries = tries
      reconciler.interruption = killer.interruption
      do { try body(reconciler) } catch is Killed {}
      defer { bench.service.restart() }
      switch point {
      case .none: return true
      case .call(let number, _): return bench.service.calls.count >= number
      case .change(let number, _): return killer.changes >= number
      }
    }

    func plan() throws -> MergePlan? { try bench.store.merges.plans(of: device).last }

    /// What the store and the service look like, apart from names.
    func fingerprint() throws -> String {
      let plan = try plan()
      let journal = try plan.map { try bench.store.merges.journal(of: $0.id) } ?? []
      let text =
        "\(plan?.state.rawValue ?? "") \(journal) \(images(bench.service.recipients)) \(bench.service.rows.count)"
      return text.replacing(loser, with: "L").replacing(winner, with: "W").replacing(plan?.key ?? "-", with: "K")
    }

    private func images(_ recipients: [String: [String: String]]) -> [String] {
      recipients.map { "\($0.key) \($0.value.sorted { $0.key < $1.key })" }.sorted()
    }

    func expectAfter(_ comment: Comment) throws {
      #expect(bench.service.recipients == after, comment)
      #expect(bench.service.rows == rows, comment)
      #expect(try plan()?.state == .done, comment)
      #expect(try bench.store.merges.openPlans().isEmpty, comment)
      #expect(try bench.store.identities.pendingCheckCount() == 0, comment)
    }

    func expectBefore(_ comment: Comment) throws {
      #expect(bench.service.recipients == before, comment)
      #expect(bench.service.rows == [:], comment)
      #expect(try plan()?.state == .undone, comment)
      #expect(
        try bench.store.identities.identity(of: device) == DeviceIdentity(recipientId: loser, mobileUserId: userA),
        comment)
      #expect(try bench.store.merges.openPlans().isEmpty, comment)
      #expect(try bench.store.identities.pendingCheckCount() == 0, comment)
    }
  }

  /// Points one after the other until one is not reached any more.
  private func everyPoint(_ kinds: [Injection] = Injection.inVectors, _ body: (Point) throws -> Bool) throws {
    for injection in kinds {
      var number = 1
      while try body(.call(number, injection)) { number += 1 }
    }
    for before in [true, false] {
      var number = 1
      while try body(.change(number, before: before)) { number += 1 }
    }
  }

  @Test(arguments: Case.all)
  func everyRunEndsInTheFullAfterImageOrTheFullBeforeImage(this: Case) throws {
    let bench = try Bench(settings: .fixture(history: this.history, audit: this.audit))
    var number = 0
    var runs = 0
    func trial() throws -> Trial {
      number += 1
      return try Trial(bench, this, number: number)
    }
    // Forward: given up at once and finished by the next run, and repeated within the run.
    for tries in [1, 4] {
      try everyPoint { point in
        let trial = try trial()
        let reached = try trial.attempt(point, tries: tries) { _ = try $0.reconcile() }
        _ = try trial.attempt(.none, tries: 4) { _ = try $0.reconcile() }
        try trial.expectAfter("\(this.testDescription) \(point) \(tries)")
        runs += 1
        return reached
      }
    }
    // Back, from each state a kill can leave, with a second fault on the way.
    var states: [String: Point] = [:]
    try everyPoint([.crashBefore, .crashAfter]) { point in
      let trial = try trial()
      let reached = try trial.attempt(point) { _ = try $0.reconcile() }
      if try trial.plan() != nil { states[try trial.fingerprint()] = point }
      _ = try trial.attempt(.none) { _ = try $0.reconcile() }
      return reached
    }
    for (_, start) in states {
      try everyPoint { point in
        let trial = try trial()
        _ = try trial.attempt(start) { _ = try $0.reconcile() }
        let plan = try #require(try trial.plan())
        let reached = try trial.attempt(point) { _ = try $0.undo(plan.id) }
        if try trial.plan()?.state == .undoing {
          _ = try trial.attempt(.none, tries: 4) { _ = try $0.reconcile() }
        } else if try trial.plan()?.state != .undone {
          _ = try trial.attempt(.none, tries: 4) { _ = try $0.undo(plan.id) }
        }
        try trial.expectBefore("\(this.testDescription) undo \(start) \(point)")
        runs += 1
        return reached
      }
    }
    print("sweep \(this.testDescription): \(runs) runs, \(states.count) states to go back from")
  }
}
