package import BatchConfiguration
package import BatchFoundation
package import BatchStore
package import EngageAPI
package import EngageIdentity

extension IdentityReconciler {
  /// For what an operator does outside a run, with a run of its own in the store.
  package static func ofOperator(
    _ settings: Settings, service: EngageService, store: EventStore, now: Instant
  ) throws -> IdentityReconciler {
    let run = try store.runs.begin(job: "identity", configurationDigest: "", started: now, asOf: now)
    return IdentityReconciler(
      store: store,
      remote: ServiceDatabase(
        service: service, list: settings.general.listId, patience: ServicePatience(settings),
        pause: { RetryPolicy.rest($0) }),
      settings: IdentitySettings(settings), retryPolicy: RetryPolicy(settings), run: run, now: now)
  }
}
