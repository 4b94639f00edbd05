/// What a run asked Engage, in figures (reference deltadna 10).
package struct DecisionReport: Sendable, Equatable {
  /// Requests of this run; the sum of the three below.
  package var asked = 0
  /// Questions with an answer of their own.
  package var answered = 0
  /// Questions that failed and that an earlier answer stands in for.
  package var cached = 0
  /// Questions without any answer.
  package var failed = 0
  /// Requests by place and by what came of them: `answered`, or the word of the failure.
  package var places: [Place: [String: Int]] = [:]
  /// Questions that wait for a later run.
  package var waiting = 0
  /// Why the rest was not asked; nil where it was.
  package var end: DecisionFailure?

  /// Where questions are asked. Games have a handful.
  package struct Place: Sendable, Hashable {
    package var decisionPoint: String
    package var flavour: String
  }
}
