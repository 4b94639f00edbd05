package import BatchConfiguration
package import EngageAPI
package import EngageIdentity

extension ServiceErasure {
  /// For what an operator does outside a run.
  package static func ofOperator(_ settings: Settings, service: EngageService) -> ServiceErasure {
    ServiceErasure(
      remote: ServiceDatabase(
        service: service, list: settings.general.listId, patience: ServicePatience(settings),
        pause: { RetryPolicy.rest($0) }),
      settings: IdentitySettings(settings), retryPolicy: RetryPolicy(settings))
  }
}
