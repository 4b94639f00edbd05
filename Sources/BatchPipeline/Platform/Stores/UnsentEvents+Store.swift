package import BatchReport
package import BatchStore

extension UnsentEvents {
  /// Every event of a store that was not sent, with what is the same on every platform.
  ///
  /// - Parameters:
  ///   - held: of status `HOLD`.
  ///   - expired: of status `EXPIRED`; nil where there are none.
  ///   - tries: the setting that says how often a request is tried.
  package static func all(
    in store: EventStore, held: [UnsentEvents], expired: UnsentEvents?, tries: String = "Networking.maxNumRetries"
  ) throws -> [UnsentEvents] {
    let counts = try store.ledger.statusCounts()
    let rest = [
      of(
        .notPosted, counts, "queued: not sent yet, or every attempt failed",
        "--no-upload, --max-quarantine, Networking", "the next run, or 'post'"),
      expired,
      of(
        .processing, counts, "in a request of a run that works now, or was killed", "Upload.onUnknown",
        "the next run, or 'post'"),
      of(
        .unknown, counts, "the answer to the request was lost", "Upload.onUnknown, which is 'hold'",
        "'store requeue --status UNKNOWN', after a look at the service"),
      of(
        .failedPost, counts, "refused by the service, or failed again and again",
        tries, "'store requeue --status FAILED_POST', when the cause is fixed"),
    ]
    return held + rest.compactMap(\.self)
  }

  /// Events of a status, all for one reason; nil if there are none.
  package static func of(
    _ status: EventStatus, _ counts: [EventStatus: Int], _ reason: String, _ setting: String, _ ends: String
  ) -> UnsentEvents? {
    guard let count = counts[status], count > 0 else { return nil }
    return UnsentEvents(status: status.name, events: count, reason: reason, setting: setting, ends: ends)
  }
}
