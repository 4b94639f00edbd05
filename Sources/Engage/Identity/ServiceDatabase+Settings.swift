package import BatchConfiguration
package import BatchFoundation
package import BatchStore
import BatchWire

extension ServiceDatabase {
  convenience init(
    _ settings: Settings, _ service: EngageService, patience: Patience.Limits? = nil,
    cancellation: HTTPCancellation? = nil, pause: @escaping @Sendable (Milliseconds) -> Void = { RetryPolicy.rest($0) }
  ) {
    self.init(
      service: service, list: settings.general.listId, patience: patience ?? Patience.Limits(settings),
      concurrency: settings.upload.concurrency, cancellation: cancellation, pause: pause)
  }

  /// Returns the transfer of whole lists as files; nil if the configuration has none.
  func transfer(_ settings: Settings, _ retryPolicy: RetryPolicy) -> ListTransfer? {
    settings.recipient.transferFolder.map { ListTransfer(self, folder: TransferFolder(path: $0), retryPolicy) }
  }
}

// MARK: - For what an operator does outside a run

extension IdentityReconciler {
  /// Returns a reconciler with a separate run in the store.
  package static func ofOperator(
    _ settings: Settings, service: EngageService, store: EventStore, now: Instant
  ) throws -> IdentityReconciler {
    let run = try store.runs.begin(job: "identity", configurationDigest: "", started: now, asOf: now)
    return IdentityReconciler(
      store: store, remote: ServiceDatabase(settings, service), settings: IdentitySettings(settings),
      retryPolicy: RetryPolicy(settings), run: run, now: now)
  }
}

extension ServiceErasure {
  package static func ofOperator(_ settings: Settings, service: EngageService) -> ServiceErasure {
    ServiceErasure(
      remote: ServiceDatabase(settings, service), settings: IdentitySettings(settings),
      retryPolicy: RetryPolicy(settings))
  }
}
