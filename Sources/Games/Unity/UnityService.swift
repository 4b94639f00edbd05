import BatchConfiguration
import BatchDelivery
package import BatchFoundation
import BatchPipeline
import BatchStore
package import BatchWire

/// One environment of Unity Analytics, as used by a run (reference unity 2 and 3).
struct UnityService: PlatformService {
  private let context: RunContext
  private let address: UnityAddress
  private let http: HTTPClient

  /// - Throws: ``ServiceSettingsError`` with every unusable setting.
  init(_ context: RunContext) throws {
    self.context = context
    let unity = context.settings.unity
    http = HTTPClient(try HTTPSettings(context.settings.connection))
    do throws(UnityAddress.Fault) {
      address = try UnityAddress(
        endpoint: context.sandboxAddress.map { $0 + "/api/analytics/collect/v1" } ?? unity.collectURL,
        projectId: unity.projectId ?? "sandbox", environment: unity.environment ?? "sandbox")
    } catch {
      throw ServiceSettingsError(problems: ["\(error)"])
    }
  }

  var origin: String { address.service.origin }

  var destination: any Destination {
    let game = context.settings.deltaDNA
    return GameDestination(address, http: http, retries: game.maxRetries, timeout: game.collectTimeout)
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
    service: "Unity Analytics", oldest: oldestEvent, "31 days",
    setting: "31 days back and 24 hours ahead, or less if set by DeltaDNA.oldestEvent and furthestAhead",
    legacy:
      "deltaDNA loaded older data on request; ask Unity's support whether Unity Analytics does too (docs/reference/deltadna-service.md, section U5)"
  )
}

/// The address to which the events of one environment of a Unity project are sent (reference unity 2).
package struct UnityAddress: Sendable {
  package enum Fault: Error, Equatable, Sendable {
    case endpoint(ServiceAddress.Fault)
    /// The id is empty, has a character with a special meaning in a URL, or is a path step such as `..`.
    case projectId
    case environment
  }

  /// The settings that determine access, for messages. The API takes no key.
  static let settings = "Unity.projectId, Unity.environment or Unity.collectUrl"

  package let service: ServiceAddress
  /// The path of every request.
  package let target: String

  /// - Parameters:
  ///   - endpoint: includes the API version. The scheme becomes `https` if it is missing or `http`, except that `http`
  ///     to a loopback address is kept.
  ///   - environment: the name, not the id.
  /// - Throws: the first ``Fault``.
  package init(endpoint: String, projectId: String, environment: String) throws(Fault) {
    do {
      service = try ServiceAddress(EnvironmentAddress.secured(endpoint))
    } catch {
      throw .endpoint(error)
    }
    guard EnvironmentAddress.isSegment(projectId) else { throw .projectId }
    guard EnvironmentAddress.isSegment(environment) else { throw .environment }
    target = "/projects/\(projectId)/environments/\(environment)"
  }

}

extension UnityAddress.Fault: CustomStringConvertible {
  package var description: String {
    let allowed =
      "must be one segment of a URL path: letters, digits, '-', '.', '_' and '~', but not '.' or '..'"
    return switch self {
    case .endpoint(let fault): "Unity.collectUrl: \(fault)"
    case .projectId: "Unity.projectId \(allowed)"
    case .environment: "Unity.environment \(allowed)"
    }
  }
}

extension GameDestination {
  /// Creates the destination for the Collect API of Unity Analytics (reference unity 3). Unlike deltaDNA's Collect, it
  /// does not promise to drop a repeated `eventUUID`, so after a lost response the outcome is unknown.
  package convenience init(_ address: UnityAddress, http: HTTPClient, retries: Int, timeout: Milliseconds) {
    let seconds = Double(timeout.count) / 1000
    self.init(isIdempotent: false, retries: retries) { body, consent, cancellation in
      let request = HTTPRequest(
        .post, address.service, address.target, headers: .collect(consent), body: body, totalSeconds: seconds)
      let outcome = http.send(request, cancellation: cancellation)
      return SendOutcome(
        collect: outcome, isIdempotent: false, addressSettings: UnityAddress.settings,
        now: Instant.now.milliseconds / 1000)
    }
  }
}
