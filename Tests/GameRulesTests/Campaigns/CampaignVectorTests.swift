import BatchFoundation
import TestSupport
import Testing

@testable import GameRules

/// The published cases about triggers, session configurations and image messages.
///
/// Left out are cases of what runs inside an app, which an export does not tell: the handlers of game parameters and image
/// messages, the store of persistent actions, what a tap on an image does, the request for a configuration and its callback
/// (reference decisions D6).
@Suite struct CampaignVectorTests {
  static func cases(_ area: String, _ kind: String, except left: [String] = []) throws -> [VectorCase] {
    try Vectors.cases("deltadna", "vectors") { node in
      node["area"]?.string == area && node["kind"]?.string == kind && !left.contains(node["id"]?.string ?? "")
    }
  }

  /// A trigger of a case with what every trigger needs.
  private static func trigger(_ node: JSONNode?) -> String {
    var members = node?.members ?? []
    if node?["eventName"] == nil { members.append(JSONMember(key: "eventName", value: JSONNode(.string("e")))) }
    return JSONNode(.object(members)).canonicalText
  }

  private func json(_ node: JSONNode?) -> String { node?.canonicalText ?? "null" }

  @Test(arguments: try cases("trigger", "condition"))
  func conditionsHold(vector: VectorCase) throws {
    let expected = vector["expect", "portable"]?.bool ?? vector["expect", "recommended"]?.bool
    let condition = json(vector["given", "condition"])
    #expect(try TriggerFixture.holds(condition, json(vector["given", "eventParams"])) == expected)
  }

  /// Without `trig-defaults-ios`: ids that are missing are -1, as on Android and Unity.
  @Test(arguments: try cases("trigger", "construct", except: ["trig-defaults-ios"]))
  func triggersAreRead(vector: VectorCase) throws {
    let fixture = try TriggerFixture(triggers: "[\(Self.trigger(vector["given", "json"]))]")
    let trigger = try #require(fixture.configuration.triggers.first)
    if let id = vector["expect", "campaignId"]?.integer { #expect(trigger.campaignID == id) }
    if let id = vector["expect", "variantId"]?.integer { #expect(trigger.variantID == id) }
    if let priority = vector["expect", "priority"]?.integer { #expect(trigger.priority == priority) }
    if let action = vector["expect", "actionType"]?.string { #expect(trigger.action.rawValue == action) }
    #expect(trigger.campaignName?.description == vector["expect", "campaignName"]?.string)
  }

  @Test(arguments: try cases("trigger", "sort"))
  func triggersOfOnePriorityKeepTheirOrder(vector: VectorCase) throws {
    let triggers = try #require(vector["given", "triggers"]?.array).sorted {
      ($0["index"]?.integer ?? 0) < ($1["index"]?.integer ?? 0)
    }
    let fixture = try TriggerFixture(
      triggers: "["
        + triggers.map { #"{"eventName":"e","campaignID":\#(json($0["index"])),"priority":\#(json($0["priority"]))}"# }
        .joined(separator: ",") + "]")
    #expect(
      try fixture.answers("e", all: true) == vector["expect", "indexOrder"]?.array?.map { "\($0.integer ?? -1)#1" })
  }

  @Test(arguments: try cases("trigger", "respondSequence"))
  func triggersRespond(vector: VectorCase) throws {
    let fixture = try TriggerFixture(triggers: "[\(Self.trigger(vector["given", "trigger"]))]")
    let events = vector["given", "events"]?.array ?? []
    let responses = try events.map { event in
      try !fixture.responses(to: event["eventName"]?.string ?? "", event["eventParams"]?.canonicalText ?? "{}").isEmpty
    }
    #expect(responses == vector["expect"]?.array?.compactMap(\.bool))
  }

  @Test(arguments: try cases("trigger", "showSequence"))
  func showConditionsHoldInTurn(vector: VectorCase) throws {
    let conditions = json(vector["given", "showConditions"])
    let fixture = try TriggerFixture(
      triggers: #"[{"eventName":"e","variantID":1,"campaignExecutionConfig":{"showConditions":\#(conditions)}}]"#)
    let shown = try (0..<(vector["given", "executions"]?.integer ?? 0)).map { _ in
      try !fixture.responses(to: "e").isEmpty
    }
    #expect(shown == vector["expect"]?.array?.compactMap(\.bool))
  }

  @Test(arguments: try cases("trigger", "canExecute"))
  func aShowConditionHoldsAtACount(vector: VectorCase) throws {
    let condition = json(vector["given", "showCondition"])
    let fixture = try TriggerFixture(
      triggers: #"[{"eventName":"e","campaignExecutionConfig":{"showConditions":[\#(condition)]}}]"#)
    let parsed = try #require(fixture.configuration.triggers.first?.showConditions.first)
    #expect(parsed.holds(executions: try #require(vector["given", "currentCount"]?.integer)) == vector["expect"]?.bool)
  }

  @Test(arguments: try cases("trigger", "respond"))
  func anyShowConditionIsEnough(vector: VectorCase) throws {
    let fixture = try TriggerFixture(triggers: "[\(Self.trigger(vector["given", "trigger"]))]")
    let name = vector["given", "trigger", "eventName"]?.string ?? "e"
    for _ in 1..<(vector["given", "countAfterIncrement"]?.integer ?? 1) { _ = try fixture.responses(to: name) }
    #expect(try !fixture.responses(to: name).isEmpty == vector["expect"]?.bool)
  }

  @Test(arguments: try cases("trigger", "parseShowConditions"))
  func showConditionsAreRead(vector: VectorCase) throws {
    let fixture = try TriggerFixture(
      triggers: #"[{"eventName":"e","campaignExecutionConfig":\#(json(vector["given", "config"]))}]"#)
    let expected = vector["expect"]?.array?.map { node in
      node["kind"]?.string == "count"
        ? ShowCondition(required: node["required"]?.integer)
        : ShowCondition(
          repetition: ShowCondition.Repetition(
            interval: node["interval"]?.integer ?? 0, limit: node["limit"]?.integer ?? 0))
    }
    #expect(fixture.configuration.triggers.first?.showConditions == expected)
  }

  @Test(arguments: try cases("trigger", "metricStore"))
  func executionsAreCountedAcrossRuns(vector: VectorCase) throws {
    var counts = TriggerCounts()
    let variant = try #require(vector["given", "variantId"]?.integer)
    for _ in 1..<(vector["given", "increments"]?.integer ?? 1) { _ = counts.addExecution(ofVariant: variant) }
    if vector["given", "reopen"]?.bool == true {
      counts = try counts.storedAndRead()
    }
    #expect(counts.addExecution(ofVariant: variant) == vector["expect", "count"]?.integer)
  }

  /// Without `action-multi-image`, which is about handlers.
  @Test(arguments: try cases("eventAction", "run", except: ["action-multi-image"]))
  func responsesAreRecorded(vector: VectorCase) throws {
    let triggers = try #require(vector["given", "triggers"]?.array)
    let fixture = try TriggerFixture(triggers: "[" + triggers.map(Self.trigger).joined(separator: ",") + "]")
    let event = vector["given", "event", "eventName"]?.string ?? triggers.first?["eventName"]?.string ?? "e"
    let responses = try fixture.responses(to: event, all: true)
    if let priorities = vector["expect", "recordedPriorities"]?.array {
      #expect(responses.map(\.trigger.priority) == priorities.compactMap(\.integer))
      return
    }
    let recorded = try #require(vector["expect", "recorded"]?.array)
    #expect(responses.count == recorded.count)
    for (response, event) in zip(responses, recorded) {
      let parameters = try #require(event["eventParams"])
      #expect(response.trigger.campaignID == parameters["ddnaEventTriggeredCampaignID"]?.integer)
      #expect(response.trigger.priority == parameters["ddnaEventTriggeredCampaignPriority"]?.integer)
      #expect(response.trigger.variantID == parameters["ddnaEventTriggeredVariantID"]?.integer)
      #expect(response.trigger.action.rawValue == parameters["ddnaEventTriggeredActionType"]?.string)
      #expect(response.sessionCount == parameters["ddnaEventTriggeredSessionCount"]?.integer)
      #expect(response.trigger.campaignName?.description == parameters["ddnaEventTriggeredCampaignName"]?.string)
      #expect(response.trigger.variantName?.description == parameters["ddnaEventTriggeredVariantName"]?.string)
    }
  }

  /// Without `cfg-nonpersistent` and `cfg-persistent`, which are about the store of actions.
  @Test(arguments: try cases("sessionConfig", "parse", except: ["cfg-nonpersistent", "cfg-persistent"]))
  func configurationsAreRead(vector: VectorCase) throws {
    let file = json(vector["given", "response"])
    let configuration = try SessionConfiguration.read(Array(file.utf8), name: "f")
    let arena = Arena()
    if let names = vector["expect", "eventsWhitelist"] {
      #expect(configuration.allows(event: "surely none of them") == (names.array == nil))
      for name in names.array ?? [] { #expect(configuration.allows(event: arena.text(name.string ?? ""))) }
    }
    if let points = vector["expect", "dpWhitelist"] {
      #expect(configuration.allows(decisionPoint: "surely none", flavour: "engagement") == (points.array == nil))
    }
    if let count = vector["expect", "triggerCount"]?.integer { #expect(configuration.triggers.count == Int(count)) }
  }

  @Test(arguments: try cases("sessionConfig", "filterDecisionPoints"))
  func decisionPointsAreFiltered(vector: VectorCase) throws {
    let fixture = try TriggerFixture(#"{"dpWhitelist":\#(json(vector["given", "dpWhitelist"]))}"#)
    let arena = Arena()
    let sent = (vector["given", "request"]?.array ?? []).compactMap(\.string).filter {
      fixture.configuration.allows(decisionPoint: arena.text($0), flavour: "engagement")
    }
    #expect(sent == vector["expect", "sent"]?.array?.compactMap(\.string))
  }

  @Test(arguments: try cases("imageMessage", "validate"))
  func imageMessagesAreValidated(vector: VectorCase) throws {
    let message = ImageMessage(vector["given", "json", "image"])
    #expect((message?.isValid ?? false) == vector["expect", "valid"]?.bool)
    switch vector["expect", "missing"]?.string {
    case nil: break
    case "image": #expect(message == nil)
    case let missing?: #expect(message?.problems.map(\.rawValue) == [missing])
    }
  }
}
