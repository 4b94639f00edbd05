import BatchFoundation
import EventSchemas
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
      let bytes = random.damaged(original)
      let inspection = EventSchema.inspect(bytes, name: "s.json").inspection
      guard inspection.problems.isEmpty else {
        for problem in inspection.problems {
          let place = problem.fault.place
          #expect(place.line ?? 0 >= 1 && place.column ?? 0 >= 1 && !problem.fault.problem.isEmpty)
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
