/// The figures of a delivery, named as in the summary of a run (reference formats 4.1).
package struct UploadCounts: Sendable, Equatable, Codable {
  /// The number of chunks for which a request was sent.
  package var chunks = 0
  package var eventsPosted = 0
  /// The number of events that became `FAILED_POST`.
  package var eventsFailed = 0
  /// The number of events pending at the end of the delivery.
  package var eventsPending = 0
  /// The number of events held as `UNKNOWN` at the end of the delivery.
  package var eventsUnknown = 0
  /// The number of requests of which at least one byte was sent: ``chunks`` plus ``retries``.
  package var requests = 0
  /// The number of requests for chunks that had already had a request in this delivery.
  package var retries = 0

  package init() {}
}
