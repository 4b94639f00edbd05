import BatchFoundation
import DeltaDNASchema
import TestSupport
import Testing

/// Schemas with bytes changed at random: each is read or refused with places, and checking by what was read is safe.
@Suite struct DamagedSchemaTests {
  @Test(arguments: UInt64(1)...4)
  func nothingCrashes(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let original = Array(EventCheckerTests.levels.utf8)
    var usable = 0
    for _ in 0..<600 {
      var bytes = original
      for _ in 0...random.below(3) {
        let at = random.below(bytes.count)
        switch random.below(4) {
        case 0: bytes.remove(at: at)
        case 1: bytes.insert(UInt8(random.below(128)), at: at)
        case 2: bytes[at] = UInt8(random.below(256))
        default:
          let other = random.below(bytes.count)
          bytes.replaceSubrange(
            at..<min(bytes.count, at + 8), with: bytes[other..<min(bytes.count, other + random.below(20))])
        }
      }
      let inspection = EventSchema.inspect(bytes).inspection
      guard inspection.problems.isEmpty else {
        for problem in inspection.problems {
          #expect(problem.line >= 1 && problem.column >= 1 && !problem.reason.isEmpty)
        }
        continue
      }
      usable += 1
      let fixture = try EventFixture(String(decoding: bytes, as: UTF8.self))
      for parameters in [
        "{}", #"{"level":1,"mode":"x","code":"ABC","tags":["a",[null]],"reward":{"rewardName":"","B":{}}}"#,
      ] {
        let findings = try fixture.findings("levelUp", parameters)
        #expect(Set(findings).count == findings.count)
      }
    }
    #expect(usable > 20)
  }
}
