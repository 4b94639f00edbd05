package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchHTTP
package import BatchStore

extension HTTPSettings {
  package init(_ connection: Settings.Connection) {
    self.init(
      connectSeconds: Double(connection.connectTimeout.count) / 1000,
      totalSeconds: Double(connection.totalTimeout.count) / 1000, minimumRate: connection.minimumRate,
      answerLimit: connection.maxResponseBytes, authorities: connection.caFile,
      proxy: connection.proxy.map { .address($0, login: connection.proxyCredentials?.reveal()) } ?? .none)
  }
}

extension DeliverySettings {
  package init(_ settings: Settings, limits: BlockLimits) {
    self.init(
      concurrency: settings.upload.concurrency, limits: limits,
      onUnknown: settings.upload.onUnknown == .hold ? .hold : .resend, maxFailures: settings.networking.maxRetries,
      backoff: Backoff(settings), failuresInARow: settings.networking.breakerFailures,
      retryBudget: settings.networking.retryBudget, patience: settings.upload.patience,
      patienceAtStart: settings.upload.patienceAtStart)
  }
}

extension Backoff {
  package init(_ settings: Settings) {
    self.init(first: settings.networking.retryDelay, longest: settings.networking.maxRetryDelay)
  }
}
