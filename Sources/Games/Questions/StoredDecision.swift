package import BatchFoundation
import BatchStore
import GRDB
import GameRules

/// A question in the store, with its outcome.
package struct StoredDecision {
  var id: Int64
  package var timestamp: Instant
  var device: String
  var emission: Int64
  var consent: PIPLConsent
  var isAsked: Bool
  var userID: String
  var sessionID: String?
  var decisionPoint: String
  var flavour: String
  var body: String
  /// Nil while the question is pending.
  var settlement: DecisionSettlement?
}

extension StoredDecision {
  static let columns =
    "id, time, device, emission, consent, is_asked, user, session, point, flavour, body, state, status, cached, error, answer"

  init(_ row: Row) throws {
    id = try row.value("id")
    timestamp = try row.value("time")
    device = try row.value("device")
    emission = try row.emission("emission")
    consent = try PIPLConsent(rawValue: row.value("consent"))
    isAsked = try row.value("is_asked")
    userID = try row.value("user")
    sessionID = try row.value("session")
    decisionPoint = try row.value("point")
    flavour = try row.value("flavour")
    body = try row.value("body")
    guard try row.value("state") == DecisionState.settled.rawValue else { return }
    settlement = try DecisionSettlement(
      status: row.value("status"), isCached: row.value("cached"), error: row.value("error"), answer: row.value("answer")
    )
  }
}

/// The outcome of a question.
struct DecisionSettlement {
  /// The status of the response, even of a failed one that an earlier answer replaces.
  var status: Int
  var isCached = false
  /// The raw value of a ``DecisionFailure/Kind``; nil if the service answered.
  var error: String?
  /// The whole answer as JSON, without any secrets that it repeats; nil if there is none.
  var answer: String?
  /// Whether the answer may be used after later failures.
  var isKept = false

  /// The answer that a phone gives its game without calling the service.
  static let local = DecisionSettlement(status: 200, answer: #"{"parameters":{}}"#)
}

extension DecisionSettlement {
  /// - Parameter earlier: returns an answer that may replace a failed one.
  init(_ outcome: DecisionOutcome, earlier: () throws -> String?) rethrows {
    switch outcome {
    case .answered(let status, let root):
      self.init(status: status, answer: root.withoutSecrets.canonicalText, isKept: true)
    case .failed(let failure):
      let standIn = failure.allowsEarlierAnswer ? try earlier() : nil
      self.init(
        status: failure.status, isCached: standIn != nil, error: failure.kind.rawValue, answer: standIn)
    }
  }
}

extension StoredDecision {
  /// The line for `--decisions-out`.
  var line: String {
    let settlement =
      settlement
      ?? DecisionSettlement(status: DecisionFailure.notAskedStatus, error: DecisionFailure.notAsked.kind.rawValue)
    // Stored answers were written as JSON, so they parse (reference deltadna-service 4.2).
    let answer = settlement.answer.flatMap { try? JSONNode.parse(Array($0.utf8)) }
    func object(_ name: String) -> JSONNode {
      answer?[name].flatMap { $0.members == nil ? nil : $0.canonical } ?? .text(nil)
    }
    let image = ImageMessage(answer?["image"])
    let line: JSONNode = [
      "eventTimestamp": .text(timestamp.eventTimestamp), "userID": .text(userID), "sessionID": .text(sessionID),
      "decisionPoint": .text(decisionPoint), "flavour": .text(flavour), "status": .number(settlement.status),
      "cached": .flag(settlement.isCached), "error": .text(settlement.error),
      "transactionID": .text(answer?["transactionID"]?.stringOrNumber), "parameters": object("parameters"),
      "eventParams": object("eventParams"),
      "image": image.map {
        ["valid": .flag($0.isValid), "problems": .texts($0.problems.map(\.rawValue)), "assets": .texts($0.assets)]
      } ?? .text(nil),
    ]
    return line.compactText
  }

  /// The decision point and flavour, written as in the session configuration.
  package var place: String { "\(decisionPoint)@\(flavour)" }

  /// The outcome in words, without any text from the service.
  package var words: String {
    guard let settlement else { return "pending; the next run or 'post' requests it" }
    guard isAsked else {
      return
        "not requested: the player had opted out or denied consent, or the session configuration does not list the decision point"
    }
    let outcome =
      settlement.error.map { "failed (\($0)\(settlement.status > 0 ? ", status \(settlement.status)" : ""))" }
      ?? "answered with status \(settlement.status)"
    return settlement.isCached ? "\(outcome); an earlier response is used instead" : outcome
  }
}
