package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchStore
package import BatchWire
import FoundationEssentials

extension HTTPSettings {
  /// - Throws: ``ServiceSettingsError`` if the file of certificate authorities cannot be used.
  package init(_ connection: Settings.Connection) throws {
    self.init(
      connectSeconds: Double(connection.connectTimeout.count) / 1000,
      totalSeconds: Double(connection.totalTimeout.count) / 1000, minimumRate: connection.minimumRate,
      answerLimit: connection.maxResponseBytes, idleSeconds: Double(connection.idleTimeout.count) / 1000,
      authorities: try connection.caFile.map(Self.authorities),
      proxy: connection.proxy.map { .address($0, login: connection.proxyCredentials?.reveal()) } ?? .none)
  }

  /// Returns the certificates of the authorities that the system trusts and of those in the file, in PEM format.
  private static func authorities(addedBy file: String) throws -> [UInt8] {
    func problem(_ words: String) -> ServiceSettingsError {
      ServiceSettingsError(problems: ["Connection.caFile: '\(file)' \(words)"])
    }
    // Every unreadable file has the same remedy.
    guard let added = (try? RegularFile.read(file)).map({ Data($0) }) else { throw problem("cannot be read") }
    guard added.firstRange(of: Data("-----BEGIN CERTIFICATE-----".utf8)) != nil else {
      throw problem("contains no certificate in PEM format")
    }
    // If the file that libcurl was built to use does not exist, the system itself trusts no authority.
    let system = HTTPClient.systemAuthorities.flatMap { try? Data(contentsOf: URL(filePath: $0)) } ?? Data()
    return Array(system + Data("\n".utf8) + added)
  }
}

extension DeliverySettings {
  package init(_ settings: Settings, limits: RequestLimits) {
    self.init(
      concurrency: settings.upload.concurrency, limits: limits,
      onUnknown: settings.upload.onUnknown, maxFailures: settings.networking.maxRetries,
      failuresInARow: settings.networking.breakerFailures, retryBudget: settings.networking.retryBudget,
      patience: Outage.Patience(settings))
  }
}

extension Outage.Patience {
  package init(_ settings: Settings) {
    self.init(
      longest: settings.upload.patience, atStart: settings.upload.patienceAtStart, backoff: Backoff(settings))
  }
}

extension Backoff {
  package init(_ settings: Settings) {
    self.init(first: settings.networking.retryDelay, longest: settings.networking.maxRetryDelay)
  }
}
