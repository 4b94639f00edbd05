package import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchHTTP
import BatchStore
package import EngageAPI
import EngageIdentity

/// The configured service cannot be called; the fault names the setting to change.
package struct ServiceSettingsError: Error, Equatable, CustomStringConvertible {
  package var problems: [String]

  package var description: String { problems.map { "error: \($0)" }.joined(separator: "\n") }
}

extension EngageService {
  /// - Throws: ``ServiceSettingsError``.
  static func of(_ request: RunRequest) throws -> EngageService {
    try of(request.settings.connection, sandbox: request.sandboxAddress)
  }

  /// The configured service, or the sandbox that stands in for it and takes any credentials.
  ///
  /// - Parameter sandbox: where it listens; nil for the service.
  /// - Throws: ``ServiceSettingsError`` with everything that is missing.
  package static func of(_ connection: Settings.Connection, sandbox: String?) throws -> EngageService {
    var problems: [String] = []
    func needed(_ value: Secret?, _ key: String, _ variable: String) -> Secret {
      if let value, !value.isEmpty { return value }
      if sandbox == nil { problems.append("Connection.\(key) is not set; set it, or \(variable) in the environment") }
      return Secret("sandbox")
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
      address: address, paths: paths, credentials: credentials, http: HTTPClient(HTTPSettings(connection)),
      refreshMargin: Double(connection.tokenRefreshMargin.count) / 1000)
  }
}

extension HTTPSettings {
  init(_ connection: Settings.Connection) {
    self.init(
      connectSeconds: Double(connection.connectTimeout.count) / 1000,
      totalSeconds: Double(connection.totalTimeout.count) / 1000, minimumRate: connection.minimumRate,
      answerLimit: connection.maxResponseBytes, authorities: connection.caFile,
      proxy: connection.proxy.map { .address($0, login: connection.proxyCredentials?.reveal()) } ?? .none)
  }
}

extension DeliverySettings {
  init(_ settings: Settings) {
    self.init(
      concurrency: settings.upload.concurrency, limits: BlockLimits(settings),
      onUnknown: settings.upload.onUnknown == .hold ? .hold : .resend, maxFailures: settings.networking.maxRetries,
      backoff: Backoff(settings), failuresInARow: settings.networking.breakerFailures,
      retryBudget: settings.networking.retryBudget, patience: settings.upload.patience,
      patienceAtStart: settings.upload.patienceAtStart)
  }
}

extension Backoff {
  init(_ settings: Settings) {
    self.init(first: settings.networking.retryDelay, longest: settings.networking.maxRetryDelay)
  }
}

extension BlockLimits {
  init(_ settings: Settings) {
    self.init(maxEvents: settings.upload.maxEventsPerRequest, maxBodyBytes: settings.upload.maxBytesPerRequest)
  }
}

extension IdentitySettings {
  init(_ settings: Settings) {
    let recipient = settings.recipient
    self.init(list: settings.general.listId, dateFormat: recipient.mergedDateFormat)
    createsAnonymousUsers = recipient.createsAnonymousUsers
    mobileUserIdColumn = recipient.mobileUserIdColumn
    mergedRecipientIdColumn = recipient.mergedRecipientIdColumn
    mergedDateColumn = recipient.mergedDateColumn
    marksMerges = recipient.marksMergesInDatabase
    if settings.audit.isWritten {
      var table = AuditTable(id: settings.audit.tableId)
      table.keyColumn = settings.audit.keyColumn
      table.oldRecipientIdColumn = settings.audit.oldRecipientIdColumn
      table.newRecipientIdColumn = settings.audit.newRecipientIdColumn
      table.dateColumn = settings.audit.dateColumn
      audit = table
    }
    knownToKnown =
      switch recipient.knownToKnown {
      case .reassign: .reassign
      case .merge: .merge
      case .hold: .hold
      }
    sharedDevice = recipient.sharedDevice == .replace ? .replace : .keep
    longestChain = recipient.longestMergeChain
    bulkThreshold = recipient.bulkThreshold
    concurrency = settings.upload.concurrency
    guard settings.location.isEnabled else {
      locations = nil
      return
    }
    var columns = LocationColumns()
    columns.address = settings.location.addressColumn
    columns.time = settings.location.timeColumn
    columns.timeFormat = settings.location.dateFormat
    locations = columns
  }
}
