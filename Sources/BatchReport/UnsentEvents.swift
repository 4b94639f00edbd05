/// Events of the store that were not sent, all for one reason.
package struct UnsentEvents: Sendable, Equatable, Codable {
  /// As the store names it, such as `HOLD`.
  package var status: String
  package var events: Int
  package var reason: String
  /// The setting, or member of the job, that decides it.
  package var setting: String
  /// What ends it.
  package var ends: String
  /// What somebody can do where no later run ends it; nil where there is nothing to do, or to wait for a run.
  package var advice: String?

  package init(status: String, events: Int, reason: String, setting: String, ends: String, advice: String? = nil) {
    self.status = status
    self.events = events
    self.reason = reason
    self.setting = setting
    self.ends = ends
    self.advice = advice
  }

  /// As one line for people, without the number.
  package var words: String { "\(status): \(reason) (\(setting)); ends with \(ends)" }
}
