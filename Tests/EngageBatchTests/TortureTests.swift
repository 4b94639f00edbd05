import BatchStore
import FoundationEssentials
import Testing

/// A short version of `make torture`, or with `ENGAGE_TORTURE=full` all of it.
@Suite("Kills and faults", .serialized) struct TortureTests {
  private static let variables = ProcessInfo.processInfo.environment
  private static let isFull = variables["ENGAGE_TORTURE"] == "full"

  private static let seed: UInt64 =
    variables["ENGAGE_TORTURE_SEED"].flatMap { UInt64($0) } ?? (isFull ? UInt64.random(in: 1...999_999_999) : 4)

  private func torture(_ onUnknown: Torture.OnUnknown, _ codes: String) throws -> Torture.Outcome {
    let torture =
      Self.isFull
      ? Torture(
        seed: Self.seed, events: 20_000, padding: 600, randomKills: 30, occurrences: [1, 2, 5], onUnknown: onUnknown,
        codes: codes)
      : Torture(seed: Self.seed, events: 1500, randomKills: 4, occurrences: [1], onUnknown: onUnknown, codes: codes)
    print("Torture with \(onUnknown.rawValue), \(codes): ENGAGE_TORTURE_SEED=\(Self.seed)")
    let outcome = try torture.run()
    print(
      """
      Torture with \(onUnknown.rawValue): \(outcome.expected) events, \(outcome.runs) runs, \(outcome.randomKills) \
      killed at random and \(outcome.aimedKills.count) at a point, \(outcome.faults) faults; \
      \(outcome.store.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")); \
      \(outcome.applied.count) known to the server, \(outcome.applied.values.count { $0 > 1 }) of them more than once
      """)
    #expect(outcome.unexpected == [])
    // Only what was refused with a renewed token as well may end a run so (reference guarantees 2.1).
    #expect(outcome.credentialsRefused <= outcome.refusedTwice)
    #expect(Set(CrashPoint.allCases.map { "\($0.rawValue):1" }).isSubset(of: outcome.aimedKills))
    #expect(outcome.randomKills > 0)
    #expect(outcome.faults > 0)
    // Each run asks for its own token, and gets the one that the run before had.
    #expect(outcome.violations.filter { $0.key != "needless-token-call" } == [:])
    #expect(outcome.violations["needless-token-call", default: 0] < outcome.runs)
    #expect(outcome.store.values.reduce(0, +) == outcome.expected)
    return outcome
  }

  @Test(
    "With resend, every event arrives or is known to have failed",
    arguments: isFull ? ["engage-sdk", "acoustic-mobile"] : ["engage-sdk"])
  func resend(codes: String) throws {
    let outcome = try torture(.resend, codes)
    #expect(outcome.lastCode == 0, "\(outcome.lastMessages)")
    // An event that was refused too often is FAILED_POST, as the SDKs had it, until an operator sends it again.
    let posted = outcome.store["SUCCESSFULLY_POSTED", default: 0]
    #expect(posted + outcome.store["FAILED_POST", default: 0] == outcome.expected)
    #expect(posted > outcome.expected * 97 / 100)
    #expect((posted...outcome.expected).contains(outcome.applied.count))
  }

  @Test(
    "With hold, none arrives twice, and all that may be missing are known",
    arguments: isFull ? ["engage-sdk", "acoustic-mobile"] : ["acoustic-mobile"])
  func hold(codes: String) throws {
    let outcome = try torture(.hold, codes)
    #expect(outcome.lastCode == 76, "\(outcome.lastMessages)")
    let posted = outcome.store["SUCCESSFULLY_POSTED", default: 0]
    let unknown = outcome.store["UNKNOWN", default: 0]
    #expect(posted + unknown + outcome.store["FAILED_POST", default: 0] == outcome.expected)
    #expect(unknown > 0)
    #expect(outcome.applied.values.allSatisfy { $0 == 1 }, "\(outcome.doubles.joined(separator: "\n"))")
    #expect((posted...outcome.expected).contains(outcome.applied.count))
  }
}
