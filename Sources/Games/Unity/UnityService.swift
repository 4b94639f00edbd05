import BatchConfiguration
import BatchDelivery
package import BatchFoundation
import BatchPipeline
import BatchStore
import BatchWire

/// One environment of Unity Analytics, as used by a run (reference unity 2 and 3).
struct UnityService: PlatformService {
  private let context: RunContext
  private let collect: GameEndpoint

  /// The settings that determine access, for messages. The API takes no key.
  static let addressSettings = "Unity.projectId, Unity.environment or Unity.collectUrl"

  /// - Throws: ``ServiceSettingsError``.
  init(_ context: RunContext) throws {
    self.context = context
    let unity = context.settings.unity
    let http = HTTPClient(try HTTPSettings(context.settings.connection))
    let address = try Self.address(
      endpoint: context.sandboxAddress.map { $0 + "/api/analytics/collect/v1" } ?? unity.collectURL,
      projectId: unity.projectId ?? "sandbox", environment: unity.environment ?? "sandbox")
    collect = GameEndpoint(address, http: http, timeout: context.settings.deltaDNA.collectTimeout)
  }

  /// Returns the address to which the events of one environment of a Unity project are sent (reference unity 2).
  ///
  /// - Parameters:
  ///   - endpoint: includes the API version.
  ///   - environment: the name, not the id.
  /// - Throws: ``ServiceSettingsError`` for the first unusable setting.
  static func address(endpoint: String, projectId: String, environment: String) throws -> EnvironmentAddress {
    let address: EnvironmentAddress
    do {
      address = try EnvironmentAddress(
        endpoint: endpoint, path: "/projects/\(projectId)/environments/\(environment)")
    } catch {
      throw ServiceSettingsError(problems: ["Unity.collectUrl: \(error)"])
    }
    for (id, setting) in [(projectId, "Unity.projectId"), (environment, "Unity.environment")]
    where !EnvironmentAddress.isSegment(id) {
      throw ServiceSettingsError(problems: [
        "\(setting) must be one segment of a URL path: letters, digits, '-', '.', '_' and '~', but not '.' or '..'"
      ])
    }
    return address
  }

  var origin: String { collect.address.service.origin }

  /// Unlike deltaDNA's Collect, the Collect API of Unity Analytics does not promise to drop a repeated `eventUUID`, so
  /// after a lost response the outcome is unknown (reference unity 3).
  var destination: any Destination {
    GameDestination(
      collect, isIdempotent: false, addressSettings: Self.addressSettings,
      retries: context.settings.deltaDNA.maxRetries)
  }

  func beforeDelivery(_ stage: inout ServiceStage) throws { try UnityLimits.times.warn(context, &stage) }

  func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws {
    try GameBacklog.count(in: &stage)
  }

  func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, into arrivals: inout Arrivals
  ) throws {
    arrivals.count(.taken, .events, by: try store.ledger.statusCounts()[.successfullyPosted, default: 0])
    arrivals.explain(
      .events, "Unity Analytics does not report the fate of accepted events; look them up in its event browser")
    // A sandbox uses asOf as its clock.
    if context.sandboxAddress == nil { try UnityLimits.times.doubt(store, &arrivals) }
  }
}

/// The service's limits according to its documentation (reference unity 4). Its window includes both ends, which
/// deltaDNA's rules exclude; hence the additional millisecond, the resolution of times.
package enum UnityLimits {
  package static let oldestEvent = Milliseconds(31 * 86_400_000 + 1)
  package static let furthestAhead = Milliseconds(24 * 3_600_000 + 1)
  /// Requests must be smaller than 5 MB.
  package static let bytesPerRequest = 4_999_999

  package static let times = ServiceTimes(
    service: "Unity Analytics", oldest: oldestEvent, oldestInWords: "31 days",
    setting: "31 days back and 24 hours ahead, or less if set by DeltaDNA.oldestEvent and furthestAhead",
    legacy:
      "deltaDNA loaded older data on request; ask Unity's support whether Unity Analytics does too (docs/reference/deltadna-service.md, section U5)"
  )
}
