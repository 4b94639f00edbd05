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
    ("[]", "1:1: error: the file is an array, not an object"),
    ("{}", "1:1: error: 'parameters' is missing"),
    (#"{"parameters":[]}"#, "1:15: error: 'parameters' is an array, not an object"),
    (#"{"parameters":{"eventsWhitelist":"a"}}"#, "1:34: error: 'eventsWhitelist' is a string, not an array"),
    ("{\"parameters\":{\"dpWhitelist\":[\"a@b\",\n5]}}", "2:1: error: 'dpWhitelist' has a number that is not a string"),
    (#"{"parameters":{"triggers":{}}}"#, "1:27: error: 'triggers' is an object, not an array"),
    (#"{"parameters":{"triggers":[7]}}"#, "1:28: error: a trigger is a number, not an object"),
    (#"{"parameters":{"triggers":[{}]}}"#, "1:28: error: 'eventName' of a trigger is missing"),
    (
      #"{"parameters":{"triggers":[{"eventName":1}]}}"#,
      "1:41: error: 'eventName' of a trigger is a number, not a string"
    ),
    (
      #"{"parameters":{"triggers":[{"eventName":"e","campaignID":"1"}]}}"#,
      "1:58: error: 'campaignID' is not a 64-bit integer"
    ),
    (
      #"{"parameters":{"triggers":[{"eventName":"e","limit":1.0}]}}"#,
      "1:53: error: 'limit' is not a 64-bit integer"
    ),
    (
      #"{"parameters":{"triggers":[{"eventName":"e","priority":9223372036854775808}]}}"#,
      "1:56: error: 'priority' is not a 64-bit integer"
    ),
  ])
  func refusesWithThePlace(file: String, fault: String) {
    let error = #expect(throws: FileError.self) {
      try SessionConfiguration.read(Array(file.utf8), name: "f")
    }
    #expect(error?.description == "f:\(fault)")
  }

  @Test(arguments: [
    ("{}", "a show condition has neither 'executionsRequiredCount' nor 'executionsRepeat'"),
    ("5", "a show condition has neither 'executionsRequiredCount' nor 'executionsRepeat'"),
    (
      #"{"executionsRepeatLimit":"2"}"#, "a show condition has neither 'executionsRequiredCount' nor 'executionsRepeat'"
    ),
    (
      #"{"executionsRequiredCount":"two"}"#,
      "'executionsRequiredCount' is neither an integer nor a string with one"
    ),
    (#"{"executionsRequiredCount":2.0}"#, "'executionsRequiredCount' is neither an integer nor a string with one"),
    (#"{"executionsRepeat":""}"#, "'executionsRepeat' is neither an integer nor a string with one"),
    (#"{"executionsRepeat":"0"}"#, "'executionsRepeat' is 0, but must be at least 1"),
    (
      #"{"executionsRepeat":"3","executionsRepeatLimit":"x"}"#,
      "'executionsRepeatLimit' is neither an integer nor a string with one"
    ),
  ])
  func refusesShowConditionsThatMeanNothing(condition: String, reason: String) {
    let file =
      #"{"parameters":{"triggers":[{"eventName":"e","campaignExecutionConfig":{"showConditions":[\#(condition)]}}]}}"#
    let error = #expect(throws: FileError.self) {
      try SessionConfiguration.read(Array(file.utf8), name: "f")
    }
    #expect(error?.faults.map(\.message) == [reason])
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
      (#"{"eventsWhitelist":[]}"#, ["'eventsWhitelist' is empty; nothing is filtered"]),
      (
        #"{"dpWhitelist":["p"]}"#,
        ["'p' has no flavour; write entries as 'point@flavour'. This one allows nothing"]
      ),
      (#"{"imageCache":5}"#, ["'imageCache' is a number, not an array; it is ignored"]),
      (#"{"triggers":[{"eventName":"e","condition":5}]}"#, ["'condition' is a number, not an array; it never holds"]),
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
          "the last value of the condition is not a boolean; it never holds"
        ]
      ),
      (
        #"{"triggers":[{"eventName":"e","condition":[{"p":"a"},{"b":true},{"o":"or"}],"response":{"parameters":{}}}]}"#,
        []
      ),
      (
        #"{"triggers":[{"eventName":"e","response":5}]}"#,
        ["'response' is a number, not an object; the trigger changes game parameters"]
      ),
    ] as [(String, [String])])
  func warnsOfWhatCanBeUsed(parameters: String, messages: [String]) throws {
    #expect(try TriggerFixture(parameters).configuration.notes.map(\.message) == messages)
  }
}
