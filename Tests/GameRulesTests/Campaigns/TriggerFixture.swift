import BatchFoundation

@testable import GameRules

/// One device whose events triggers see; configuration and events are written as JSON.
final class TriggerFixture {
  private var tape = JSONTape(capacity: 1 << 20)
  private var reader = JSONReader()
  private let arena = Arena()
  let configuration: SessionConfiguration
  var counts = TriggerCounts()

  /// - Parameter parameters: what stands under `parameters` of the file.
  init(_ parameters: String) throws {
    configuration = try SessionConfiguration.read(Array(#"{"parameters":\#(parameters)}"#.utf8), name: "config.json")
  }

  convenience init(triggers: String) throws { try self.init(#"{"triggers":\#(triggers)}"#) }

  private func view(_ json: String) throws -> JSONView {
    tape.truncate(to: 0)
    _ = try Array(json.utf8).withUnsafeBufferPointer { try reader.read($0, onto: &tape) }
    return tape.view(at: 0)
  }

  func withParameters(_ json: String, _ body: (JSONView) throws -> Void) throws { try body(try view(json)) }

  func responses(
    to event: String, _ parameters: String = "{}", session: String = "s", all: Bool = false
  ) throws -> [TriggerResponse] {
    var responses: [TriggerResponse] = []
    configuration.respond(
      toEvent: arena.text(event), parameters: try view(parameters), session: arena.text(session), counts: &counts,
      all: all, into: &responses)
    return responses
  }

  /// Campaign and count of each response.
  func answers(_ event: String, _ parameters: String = "{}", session: String = "s", all: Bool = false) throws
    -> [String]
  {
    try responses(to: event, parameters, session: session, all: all).map {
      "\($0.trigger.campaignID)#\($0.sessionCount)"
    }
  }

  func explain(_ event: String, _ parameters: String = "{}") throws -> [String] {
    configuration.explain(event: arena.text(event), parameters: try view(parameters)).map {
      "\($0.trigger.campaignID) \($0.result.rawValue)"
    }
  }
}

extension TriggerFixture {
  /// Whether a condition, as JSON, holds for parameters.
  static func holds(_ condition: String, _ parameters: String) throws -> Bool {
    let fixture = try TriggerFixture(triggers: #"[{"eventName":"e","condition":\#(condition)}]"#)
    return try !fixture.responses(to: "e", parameters).isEmpty
  }
}
