import BatchFoundation
package import BatchStore
import GameRules

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
    let image = ImageMessage(content?.image)
    let line: JSONNode = [
      "eventTimestamp": .text(timestamp.eventTimestamp), "userID": .text(userID), "sessionID": .text(sessionID),
      "decisionPoint": .text(decisionPoint), "flavour": .text(flavour), "status": .number(settlement.status),
      "cached": .flag(settlement.isCached), "error": .text(settlement.error),
      "transactionID": .text(content?.transactionID), "parameters": content?.parameters?.canonical ?? .text(nil),
      "eventParams": content?.eventParams?.canonical ?? .text(nil),
      "image": image.map {
        ["valid": .flag($0.isValid), "problems": .texts($0.problems.map(\.rawValue)), "assets": .texts($0.assets)]
      } ?? .text(nil),
    ]
    return line.compactText
  }
}
