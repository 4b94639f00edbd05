import BatchSandbox
import FoundationEssentials
import Testing

/// A short version of what `make torture` does, or with `ENGAGE_TORTURE=full` all of it.
@Suite("Kills during identity", .serialized) struct IdentityTortureTests {
  private static let variables = ProcessInfo.processInfo.environment
  private static let isFull = variables["ENGAGE_TORTURE"] == "full"

  private static let seed: UInt64 =
    variables["ENGAGE_TORTURE_SEED"].flatMap { UInt64($0) } ?? (isFull ? UInt64.random(in: 1...999_999_999) : 4)

  @Test(
    "A faulty, often killed run and its undoing leave the service as undisturbed ones do",
    arguments: isFull ? IdentityTorture.Variant.allCases : [.marks, .cutExports])
  func endsAlike(variant: IdentityTorture.Variant) throws {
    let checks = Self.isFull ? 240 : 8
    let torture = IdentityTorture(
      seed: Self.seed, checks: checks, longestLife: Self.isFull ? 40 : 24, variant: variant)
    print("Identity torture: ENGAGE_TORTURE_SEED=\(Self.seed)")
    let clean = try torture.run(disturbed: false)
    let outcome = try torture.run(disturbed: true)
    print(
      """
      Identity torture, \(variant.rawValue): \(checks) checks, \(outcome.merges) merges made and undone, \
      \(outcome.runs) programs, \(outcome.kills.values.reduce(0, +)) killed \
      (\(outcome.kills.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", "))), \(outcome.faults) faults
      """)
    #expect(clean.unexpected == [])
    #expect(clean.hasToldOfExport == (variant == .cutExports))
    #expect(outcome.unexpected == [])
    #expect(outcome.violations.filter { $0.key != "needless-token-call" } == [:])
    #expect(outcome.kills.count > 1)
    #expect(outcome.faults > 0)
    // S2, S3, S2 after a set-up and the device that meets a new customer again, of eight.
    #expect(clean.merges == checks / 2)
    #expect(outcome.merges == clean.merges)
    #expect(clean.merged.auditRows.count == clean.merges)
    #expect(outcome.merged == clean.merged)
    // A session's start and end, and the event itself, of each device, with the recipient that was found.
    #expect(clean.events.count == 3 * checks)
    #expect(clean.events.filter { $0.contains(#"{"name":"Recipient Id","value":""}"#) } == [])
    #expect(outcome.events == clean.events)
    #expect(clean.undone.auditRows == [])
    #expect(outcome.undone == clean.undone)
  }
}
