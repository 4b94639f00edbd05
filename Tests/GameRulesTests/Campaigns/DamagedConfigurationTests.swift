import BatchFoundation
import GameRules
import TestSupport
import Testing

/// Configurations with bytes changed at random: each is read or refused with a place, and evaluating what was read is safe.
@Suite struct DamagedConfigurationTests {
  private static let original = """
    {"parameters":{"eventsWhitelist":["e","f"],"dpWhitelist":["p@engagement"],"imageCache":["u"],"triggers":[
    {"eventName":"e","campaignID":1,"variantID":2,"priority":3,"limit":4,"condition":[{"p":"a"},{"i":"5"},{"o":"greater than"},
    {"p":"t"},{"t":"2026-01-05 10:00:00"},{"o":"less than"},{"o":"or"},{"b":true},{"o":"and"}],"response":{"image":{"url":"u"},
    "eventParams":{"responseEngagementName":"n"}},"campaignExecutionConfig":{"showConditions":[{"executionsRepeat":"2",
    "executionsRepeatLimit":3},{"executionsRequiredCount":1}]}},{"eventName":"f","condition":[{"p":"s"},{"s":"x"},{"o":"contains ic"}]}]}}
    """

  @Test(arguments: UInt64(1)...6)
  func nothingCrashes(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let fixture = try TriggerFixture("{}")
    var usable = 0
    for _ in 0..<600 {
      let bytes = random.damaged(Array(Self.original.utf8))
      do {
        let configuration = try SessionConfiguration.read(bytes, name: "f")
        usable += 1
        var counts = TriggerCounts()
        for event in ["e", "f"] as [Text] {
          _ = configuration.allows(event: event)
          var responses: [TriggerResponse] = []
          try fixture.withParameters(#"{"a":6.5,"t":"2026-01-05T00:00:00Z","s":"aXb"}"#) { parameters in
            for _ in 0..<3 {
              configuration.respond(
                toEvent: event, parameters: parameters, session: "s", counts: &counts, all: true, into: &responses)
            }
          }
          #expect(responses.count <= 3 * configuration.triggers.count)
        }
      } catch let error as FileError {
        #expect(!error.faults.isEmpty)
        for fault in error.faults {
          #expect(fault.place.line ?? 0 >= 1 && fault.place.column ?? 0 >= 1 && !fault.problem.isEmpty)
        }
      }
    }
    #expect(usable > 20)
  }
}
