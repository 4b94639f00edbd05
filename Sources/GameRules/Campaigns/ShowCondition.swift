/// After how many executions a campaign is shown (reference deltadna-service 4.6).
package struct ShowCondition: Equatable, Sendable {
  /// Shown at exactly this execution.
  package var required: Int64?
  package var repetition: Repetition?

  package struct Repetition: Equatable, Sendable {
    /// Shown at every multiple; at least 1.
    package var interval: Int64
    /// How many multiples there are; below 1 there is no end.
    package var limit: Int64
  }

  /// Whether one of its rules holds.
  ///
  /// - Parameter executions: how often the condition of the variant has held so far, this time included.
  package func holds(executions: Int64) -> Bool {
    if executions == required { return true }
    guard let repetition, repetition.interval > 0, executions % repetition.interval == 0 else { return false }
    return repetition.limit < 1 || executions / repetition.interval <= repetition.limit
  }
}
