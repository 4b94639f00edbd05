import BatchFoundation
import GameRules
import Testing

@Suite struct TriggerTests {
  @Test func theFirstThatRespondsEndsIt() throws {
    let triggers = """
      [{"eventName":"e","campaignID":1},{"eventName":"e","campaignID":2,"priority":5},{"eventName":"f","campaignID":3,"priority":9},
      {"eventName":"e","campaignID":4,"priority":5},{"eventName":"e","campaignID":5,"priority":-1}]
      """
    #expect(try TriggerFixture(triggers: triggers).answers("e") == ["2#1"])
    #expect(try TriggerFixture(triggers: triggers).answers("e", all: true) == ["2#1", "4#1", "1#1", "5#1"])
    #expect(try TriggerFixture(triggers: triggers).answers("E") == [])
  }

  @Test func aTriggerThatDoesNotRespondLeavesTheEventToTheNext() throws {
    let fixture = try TriggerFixture(
      triggers: """
        [{"eventName":"e","campaignID":1,"variantID":1,"limit":2},
        {"eventName":"e","campaignID":2,"variantID":2,"condition":[{"p":"n"},{"i":3},{"o":"greater than"}]},
        {"eventName":"e","campaignID":3,"variantID":3,
        "campaignExecutionConfig":{"showConditions":[{"executionsRequiredCount":"1"}]}}]
        """)
    #expect(try fixture.answers("e", #"{"n":1}"#) == ["1#1"])
    #expect(try fixture.answers("e", #"{"n":1}"#) == ["1#2"])
    #expect(try fixture.answers("e", #"{"n":1}"#) == ["3#1"])
    #expect(try fixture.answers("e", #"{"n":1}"#) == [])
    #expect(try fixture.answers("e", #"{"n":4}"#) == ["2#1"])
  }

  @Test func aLimitHoldsForASessionAndExecutionsGoOn() throws {
    let fixture = try TriggerFixture(
      triggers: """
        [{"eventName":"e","campaignID":1,"variantID":7,"limit":1,
        "campaignExecutionConfig":{"showConditions":[{"executionsRepeat":"2"}]}}]
        """)
    #expect(try (1...6).map { _ in try fixture.answers("e", session: "one") } == [[], ["1#1"], [], [], [], []])
    #expect(try (1...2).map { _ in try fixture.answers("e", session: "two") } == [[], ["1#1"]])
  }

  /// It went by the sessions in which a trigger was asked, so a session between did not count (reference decisions 40).
  @Test func whatWasShownIsForgottenInEachOtherSession() throws {
    let fixture = try TriggerFixture(triggers: #"[{"eventName":"e","campaignID":1,"limit":1}]"#)
    #expect(try fixture.answers("e", session: "one") == ["1#1"])
    fixture.counts.enter("two")
    #expect(try fixture.answers("e", session: "one") == ["1#1"])
    fixture.counts.enter("one")
    #expect(try fixture.answers("e", session: "one") == [])
  }

  @Test func executionsAreCountedByVariantAndShowsByTrigger() throws {
    let fixture = try TriggerFixture(
      triggers: """
        [{"eventName":"e","campaignID":1,"variantID":7,"limit":1},{"eventName":"e","campaignID":2,"variantID":7,
        "campaignExecutionConfig":{"showConditions":[{"executionsRequiredCount":4}]}}]
        """)
    // 1: shown; 2: the first counts 2 and is at its limit, the second counts 3; next time 4 and 5.
    #expect(try (1...3).map { _ in try fixture.answers("e") } == [["1#1"], [], []])
    let other = try TriggerFixture(
      triggers: """
        [{"eventName":"e","campaignID":1,"variantID":7,"limit":1},{"eventName":"e","campaignID":2,"variantID":7,
        "campaignExecutionConfig":{"showConditions":[{"executionsRequiredCount":3}]}}]
        """)
    #expect(try (1...2).map { _ in try other.answers("e") } == [["1#1"], ["2#1"]])
  }

  @Test func missingIdsAreMinusOneAndNamesAreNonEmptyTexts() throws {
    let fixture = try TriggerFixture(
      triggers: """
        [{"eventName":"e","response":{"image":{"url":"u"},"eventParams":{"responseEngagementName":"Spring","responseVariantName":""}}},
        {"eventName":"f","response":{"image":{},"eventParams":{"responseEngagementName":5,"responseVariantName":"B"}}},
        {"eventName":"g","campaignID":null,"response":{"image":"x"}}]
        """)
    let first = try #require(try fixture.responses(to: "e").first?.trigger)
    #expect((first.campaignID, first.variantID, first.priority) == (-1, -1, 0))
    #expect(first.action == .imageMessage)
    #expect(first.campaignName?.description == "Spring")
    #expect(first.variantName == nil)
    let second = try #require(try fixture.responses(to: "f").first?.trigger)
    #expect(second.action == .gameParameters)
    #expect(second.campaignName == nil)
    #expect(second.variantName?.description == "B")
    #expect(try fixture.responses(to: "g").first?.trigger.action == .gameParameters)
  }

  @Test func theEventsOfCampaignsAndOfForgettingTriggerNothing() throws {
    let fixture = try TriggerFixture(
      triggers: #"[{"eventName":"ddnaForgetMe"},{"eventName":"ddnaEventTriggeredAction"}]"#)
    #expect(try fixture.answers("ddnaForgetMe") == [])
    #expect(try fixture.answers("ddnaEventTriggeredAction") == [])
  }

  @Test func countsSurviveAsBytes() throws {
    let fixture = try TriggerFixture(
      triggers: #"[{"eventName":"e","variantID":-9},{"eventName":"f","variantID":3,"limit":2}]"#)
    for event in ["e", "f", "f", "f", "e"] { _ = try fixture.answers(event, session: "a session") }
    let bytes = fixture.counts.stored
    let read = try fixture.counts.storedAndRead()
    #expect(read == fixture.counts)
    fixture.counts = read
    #expect(try fixture.answers("f", session: "a session") == [])
    #expect(try fixture.answers("f", session: "another") == ["-1#1"])
    for end in bytes.indices {
      #expect(throws: DeviceStateError.self) { try TriggerCounts(stored: Array(bytes[..<end])) }
    }
    #expect(throws: DeviceStateError.self) { try TriggerCounts(stored: bytes + [0]) }
    #expect(TriggerCounts().isEmpty)
  }

  @Test func explainsEachTriggerUpToTheFirstThatResponds() throws {
    let fixture = try TriggerFixture(
      triggers: """
        [{"eventName":"e","campaignID":1,"condition":[{"b":false}]},{"eventName":"e","campaignID":2,"limit":0},
        {"eventName":"e","campaignID":3,"variantID":3,"campaignExecutionConfig":{"showConditions":[{"executionsRequiredCount":2}]}},
        {"eventName":"x","campaignID":4},{"eventName":"e","campaignID":5},{"eventName":"e","campaignID":6}]
        """)
    #expect(try fixture.explain("e") == ["1 condition", "2 limit", "3 showCondition", "5 responds"])
    #expect(try fixture.explain("y") == [])
  }
}

extension TriggerCounts {
  /// As the state of a device has them.
  var stored: [UInt8] {
    var writer = StateWriter()
    put(to: &writer)
    return writer.bytes
  }

  init(stored bytes: [UInt8]) throws {
    self = try bytes.withUnsafeBytes { bytes in
      var reader = StateReader(bytes)
      return try TriggerCounts(from: &reader)
    }
  }

  func storedAndRead() throws -> TriggerCounts { try TriggerCounts(stored: stored) }
}
