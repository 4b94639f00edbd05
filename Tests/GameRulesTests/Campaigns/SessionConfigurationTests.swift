import BatchFoundation
import GameRules
import Testing

@Suite struct SessionConfigurationTests {
  @Test func listsFilterEventsAndDecisionPoints() throws {
    let configuration = try TriggerFixture(#"{"eventsWhitelist":["a","b"],"dpWhitelist":["p@engagement"]}"#)
      .configuration
    #expect(configuration.allows(event: "a"))
    #expect(!configuration.allows(event: "A"))
    #expect(!configuration.allows(event: "gameStarted"))
    #expect(configuration.allows(event: "ddnaForgetMe"))
    #expect(configuration.allows(decisionPoint: "p", flavour: "engagement"))
    #expect(!configuration.allows(decisionPoint: "p", flavour: "internal"))
    #expect(!configuration.allows(decisionPoint: "p@engagement", flavour: ""))
  }

  @Test(arguments: ["{}", #"{"eventsWhitelist":[],"dpWhitelist":[]}"#, #"{"eventsWhitelist":null,"dpWhitelist":null}"#])
  func anEmptyListFiltersNothing(parameters: String) throws {
    let configuration = try TriggerFixture(parameters).configuration
    #expect(configuration.allows(event: "anything"))
    #expect(configuration.allows(decisionPoint: "any", flavour: "engagement"))
  }

  @Test(arguments: [
    ("", "1:1: error: not valid JSON"),
    ("[]", "1:1: error: the file is an array, but must be an object"),
    ("{}", "1:1: error: the file has no 'parameters'"),
    (#"{"parameters":[]}"#, "1:15: error: 'parameters' is an array, but must be an object"),
    (
      #"{"parameters":{"eventsWhitelist":"a"}}"#,
      "1:34: error: 'parameters.eventsWhitelist' is a string, but must be an array"
    ),
    (
      "{\"parameters\":{\"dpWhitelist\":[\"a@b\",\n5]}}",
      "2:1: error: 'parameters.dpWhitelist[1]' is an integer, but must be a string"
    ),
    (#"{"parameters":{"triggers":{}}}"#, "1:27: error: 'parameters.triggers' is an object, but must be an array"),
    (#"{"parameters":{"triggers":[7]}}"#, "1:28: error: 'parameters.triggers[0]' is an integer, but must be an object"),
    (#"{"parameters":{"triggers":[{}]}}"#, "1:28: error: 'parameters.triggers[0]' has no 'eventName'"),
    (
      #"{"parameters":{"triggers":[{"eventName":1}]}}"#,
      "1:41: error: 'parameters.triggers[0].eventName' is an integer, but must be a string"
    ),
    (
      #"{"parameters":{"triggers":[{"eventName":"e","campaignID":"1"}]}}"#,
      "1:58: error: 'parameters.triggers[0].campaignID' is a string, but must be a 64-bit integer"
    ),
    (
      #"{"parameters":{"triggers":[{"eventName":"e","limit":1.0}]}}"#,
      "1:53: error: 'parameters.triggers[0].limit' is a number, but must be a 64-bit integer"
    ),
    (
      #"{"parameters":{"triggers":[{"eventName":"e","priority":9223372036854775808}]}}"#,
      "1:56: error: 'parameters.triggers[0].priority' is a number, but must be a 64-bit integer"
    ),
  ])
  func refusesWithThePlace(file: String, fault: String) {
    let error = #expect(throws: FileError.self) {
      try SessionConfiguration.read(Array(file.utf8), name: "f")
    }
    #expect(error?.description == "f:\(fault)")
  }

  private static let condition = "parameters.triggers[0].campaignExecutionConfig.showConditions[0]"

  @Test(arguments: [
    ("{}", "'\(Self.condition)' has neither 'executionsRequiredCount' nor 'executionsRepeat'"),
    ("5", "'\(Self.condition)' has neither 'executionsRequiredCount' nor 'executionsRepeat'"),
    (
      #"{"executionsRepeatLimit":"2"}"#,
      "'\(Self.condition)' has neither 'executionsRequiredCount' nor 'executionsRepeat'"
    ),
    (
      #"{"executionsRequiredCount":"two"}"#,
      "'\(Self.condition).executionsRequiredCount' is a string, but must be an integer, or a string that contains one"
    ),
    (
      #"{"executionsRequiredCount":2.0}"#,
      "'\(Self.condition).executionsRequiredCount' is a number, but must be an integer, or a string that contains one"
    ),
    (
      #"{"executionsRepeat":""}"#,
      "'\(Self.condition).executionsRepeat' is a string, but must be an integer, or a string that contains one"
    ),
    (#"{"executionsRepeat":"0"}"#, "'\(Self.condition).executionsRepeat' is 0, but must be at least 1"),
    (
      #"{"executionsRepeat":"3","executionsRepeatLimit":"x"}"#,
      "'\(Self.condition).executionsRepeatLimit' is a string, but must be an integer, or a string that contains one"
    ),
  ])
  func refusesShowConditionsThatMeanNothing(condition: String, reason: String) {
    let file =
      #"{"parameters":{"triggers":[{"eventName":"e","campaignExecutionConfig":{"showConditions":[\#(condition)]}}]}}"#
    let error = #expect(throws: FileError.self) {
      try SessionConfiguration.read(Array(file.utf8), name: "f")
    }
    #expect(error?.faults.map(\.problem) == [reason])
  }

  @Test func namesEveryFaultAtOnce() {
    let file = #"{"parameters":{"eventsWhitelist":[1],"triggers":[{"limit":"x"},{"eventName":"e","variantID":true}]}}"#
    let error = #expect(throws: FileError.self) {
      try SessionConfiguration.read(Array(file.utf8), name: "f")
    }
    #expect(error?.faults.count == 4)
  }

  @Test(
    arguments: [
      (#"{"eventsWhitelist":[]}"#, ["'parameters.eventsWhitelist' is empty; nothing is filtered"]),
      (
        #"{"dpWhitelist":["p"]}"#,
        ["'p' has no flavour, so it allows nothing; write it as 'point@flavour'"]
      ),
      (#"{"imageCache":5}"#, ["'parameters.imageCache' is an integer, not an array; it is ignored"]),
      (
        #"{"triggers":[{"eventName":"e","condition":5}]}"#,
        ["'parameters.triggers[0].condition' is an integer, not an array; the condition never holds"]
      ),
      (
        #"{"triggers":[{"eventName":"e","condition":[{"o":"pr"}]}]}"#,
        [
          "the token 'o' is unknown or its value is unreadable; the condition never holds"
        ]
      ),
      (
        #"{"triggers":[{"eventName":"e","condition":[{"b":true},{"o":"and"}]}]}"#,
        [
          "an operator has too few values before it; the condition never holds"
        ]
      ),
      (
        #"{"triggers":[{"eventName":"e","condition":[{"b":true},{"p":"a"},{"o":"and"}]}]}"#,
        [
          "a parameter is on the right of an operator; the condition never holds"
        ]
      ),
      (
        #"{"triggers":[{"eventName":"e","condition":[{"p":"a"}]}]}"#,
        [
          "the condition ends with a parameter or a constant other than true; the condition never holds"
        ]
      ),
      (
        #"{"triggers":[{"eventName":"e","condition":[{"p":"a"},{"b":true},{"o":"or"}],"response":{"parameters":{}}}]}"#,
        []
      ),
      (
        #"{"triggers":[{"eventName":"e","response":5}]}"#,
        [
          "'parameters.triggers[0].response' is an integer, not an object; the trigger is treated as one that changes game parameters"
        ]
      ),
    ] as [(String, [String])])
  func warnsOfWhatCanBeUsed(parameters: String, messages: [String]) throws {
    #expect(try TriggerFixture(parameters).configuration.notes.map(\.problem) == messages)
  }
}
