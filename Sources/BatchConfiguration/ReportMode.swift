/// Who may read reports besides their owner.
package enum ReportMode: String, CaseIterable, Sendable {
  case owner = "0600"
  case group = "0640"
}
