/// Events of the store that were not sent for the same reason.
package struct UnsentEvents: Sendable, Equatable, Codable {
  /// The store's name of the status, such as `HOLD`.
  package var status: String
  package var events: Int
  package var reason: String
  /// The setting, or member of the job, that determines it.
  package var setting: String
  package var ends: String
  /// The advice if no later run ends it; nil if there is nothing to do but wait.
  package var advice: String?

  package init(status: String, events: Int, reason: String, setting: String, ends: String, advice: String? = nil) {
    self.status = status
    self.events = events
    self.reason = reason
    self.setting = setting
    self.ends = ends
    self.advice = advice
  }

  /// A line for people, without the number.
  package var words: String { "\(status): \(reason) (\(setting)); ends with \(ends)" }
}
