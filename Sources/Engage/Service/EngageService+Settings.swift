package import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchWire

extension EngageService {
  /// Returns the configured service, or the sandbox at the address `sandbox` if given, which accepts any credentials.
  ///
  /// - Throws: ``ServiceSettingsError`` with all missing settings.
  package static func of(_ connection: Settings.Connection, sandbox: String?) throws -> EngageService {
    if sandbox == nil { try ServiceSettingsError.refuse(missingSettings(connection)) }
    func given(_ value: Secret?) -> Secret { value.flatMap { $0.isEmpty ? nil : $0 } ?? Secret("any") }
    let credentials = Credentials(
      clientID: given(connection.clientId), clientSecret: given(connection.clientSecret),
      refreshToken: given(connection.refreshToken))
    let address: ServiceAddress
    do {
      address = try ServiceAddress(sandbox ?? connection.baseURL ?? "")
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

  /// Returns the settings that every call needs and that are missing.
  static func missingSettings(_ connection: Settings.Connection) -> [MissingSetting] {
    func isEmpty(_ value: Secret?) -> Bool { value?.isEmpty ?? true }
    return [
      MissingSetting("Connection.baseUrl", "ENGAGE_BASE_URL", if: connection.baseURL?.isEmpty ?? true),
      MissingSetting("Connection.clientId", "ENGAGE_CLIENT_ID", if: isEmpty(connection.clientId)),
      MissingSetting("Connection.secret", "ENGAGE_SECRET", if: isEmpty(connection.clientSecret)),
      MissingSetting("Connection.refreshToken", "ENGAGE_REFRESH_TOKEN", if: isEmpty(connection.refreshToken)),
    ].compactMap(\.self)
  }
}
