package import BatchConfiguration
import BatchDelivery
import BatchFoundation
package import BatchHTTP
package import DeltaDNAAPI
package import DeltaDNADestination

/// Collect and, if it is configured, Engage of one environment.
package struct GameService: Sendable {
  package let collect: CollectService
  /// Nil without `engageURL`.
  package let engage: DecisionService?

  /// The service cannot be called; each problem names the setting to change.
  package struct SettingsFault: Error, Sendable {
    package var problems: [String]
  }

  /// - Parameters:
  ///   - sandbox: where a sandbox listens that stands in for the service; nil for the real one.
  ///   - http: for Collect and Engage.
  /// - Throws: ``SettingsFault`` with everything that is missing.
  package init(
    _ settings: Settings.DeltaDNA, sandbox: String?, http: HTTPClient, now: @escaping @Sendable () -> Int64
  ) throws(SettingsFault) {
    var problems: [String] = []
    let collectURL = sandbox.map { "\($0)/collect/api" } ?? settings.collectURL ?? ""
    let engageURL = sandbox.map { "\($0)/engage/api" } ?? settings.engageURL
    if collectURL.isEmpty {
      problems.append("DeltaDNA.collectURL is not set; set it, or DELTADNA_COLLECT_URL, or run with --sandbox")
    }
    var key = settings.environmentKey ?? Secret("")
    if key.isEmpty {
      if sandbox == nil {
        problems.append("DeltaDNA.environmentKey is not set; set it, or DELTADNA_ENVIRONMENT_KEY in the environment")
      }
      key = Secret("sandbox")
    }
    guard problems.isEmpty else { throw SettingsFault(problems: problems) }
    func address(_ url: String, _ setting: String) -> EnvironmentAddress? {
      do throws(EnvironmentAddress.Fault) {
        return try EnvironmentAddress(endpoint: url, key: key, hashSecret: settings.hashSecret)
      } catch {
        switch error {
        case .endpoint(let fault): problems.append("DeltaDNA.\(setting): \(fault)")
        case .key: problems.append("DeltaDNA.environmentKey has a character that no URL path may have")
        }
        return nil
      }
    }
    let collectAddress = address(collectURL, "collectURL")
    let engageAddress = engageURL.flatMap { address($0, "engageURL") }
    guard problems.isEmpty, let collectAddress else { throw SettingsFault(problems: problems) }
    collect = CollectService(collectAddress, http: http, timeout: settings.collectTimeout, wallClock: now)
    engage = engageAddress.map { DecisionService($0, http: http, timeout: settings.engageTimeout) }
  }

  package func destination(_ settings: Settings.DeltaDNA) -> CollectDestination {
    CollectDestination(collect, retries: settings.maxRetries)
  }
}
