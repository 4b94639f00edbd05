package import BatchConfiguration
import BatchFoundation
import BatchHTTP
import BatchPlatform
package import EngageAPI

extension EngageService {
  /// The configured service, or the sandbox that stands in for it and takes any credentials.
  ///
  /// - Parameter sandbox: where it listens; nil for the service.
  /// - Throws: ``ServiceSettingsError`` with everything that is missing.
  package static func of(_ connection: Settings.Connection, sandbox: String?) throws -> EngageService {
    var problems: [String] = []
    func needed(_ value: Secret?, _ key: String, _ variable: String) -> Secret {
      if let value, !value.isEmpty { return value }
      if sandbox == nil { problems.append("Connection.\(key) is not set; set it, or \(variable) in the environment") }
      return Secret("any")
    }
    let credentials = Credentials(
      clientID: needed(connection.clientId, "clientId", "ENGAGE_CLIENT_ID"),
      clientSecret: needed(connection.clientSecret, "secret", "ENGAGE_SECRET"),
      refreshToken: needed(connection.refreshToken, "refreshToken", "ENGAGE_REFRESH_TOKEN"))
    let base = sandbox ?? connection.baseURL ?? ""
    if base.isEmpty {
      problems.append("Connection.baseUrl is not set; set it, or ENGAGE_BASE_URL, or run with --sandbox")
    }
    guard problems.isEmpty else { throw ServiceSettingsError(problems: problems) }
    let address: ServiceAddress
    do {
      address = try ServiceAddress(base)
    } catch {
      throw ServiceSettingsError(problems: ["Connection.baseUrl: \(error)"])
    }
    let paths = ServicePaths(
      oauth: connection.oauthPath, xmlapi: connection.xmlapiPath, events: connection.eventsPath,
      eventErrors: connection.eventErrorsPath)
    return EngageService(
      address: address, paths: paths, credentials: credentials, http: HTTPClient(try HTTPSettings(connection)),
      refreshMargin: Double(connection.tokenRefreshMargin.count) / 1000)
  }
}
