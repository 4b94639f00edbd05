import BatchFoundation
package import BatchStore
import DeltaDNAAPI
import DeltaDNAEvents
import DeltaDNARules

extension Decisions {
  /// What became of the questions of a run, a line each without its end, in the order of the questions: those that it settled,
  /// and as `notAsked` those that still wait (reference deltadna 9).
  package func forEachLine(of run: RunID, _ body: (String) throws -> Void) throws {
    try forEach(of: run) { try body($0.line) }
  }
}

extension StoredDecision {
  /// The line of `--decisions-out`.
  var line: String {
    let settlement =
      settlement
      ?? DecisionSettlement(status: DecisionFailure.notAskedStatus, error: DecisionFailure.notAsked.kind.rawValue)
    // Answers are stored as they were written here, so they parse.
    let content = settlement.answer.flatMap { try? JSONNode.parse(Array($0.utf8)) }.map(DecisionContent.init)
    let members: [(String, String?)] = [
      ("eventTimestamp", JSONString.quoted(timestamp.eventTimestamp)), ("userID", JSONString.quoted(userID)),
      ("sessionID", sessionID.map { JSONString.quoted($0) }), ("decisionPoint", JSONString.quoted(decisionPoint)),
      ("flavour", JSONString.quoted(flavour)), ("status", "\(settlement.status)"),
      ("cached", "\(settlement.isCached)"), ("error", settlement.error.map { JSONString.quoted($0) }),
      ("transactionID", content?.transactionID.map { JSONString.quoted($0) }),
      ("parameters", content?.parameters?.canonicalText), ("eventParams", content?.eventParams?.canonicalText),
      ("image", ImageMessage(content?.image)?.text),
    ]
    return "{\(members.map { "\"\($0)\":\($1 ?? "null")" }.joined(separator: ","))}"
  }
}

extension ImageMessage {
  fileprivate var text: String {
    let problems = problems.map { JSONString.quoted($0.rawValue) }.joined(separator: ",")
    let assets = assets.map { JSONString.quoted($0) }.joined(separator: ",")
    return "{\"valid\":\(isValid),\"problems\":[\(problems)],\"assets\":[\(assets)]}"
  }
}
