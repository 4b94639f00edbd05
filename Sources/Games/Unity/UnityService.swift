import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchPipeline
import BatchStore
import BatchWire

/// Unity Analytics of one environment, as a run talks to it (reference unity 2 and 3).
struct UnityService: PlatformService {
  private let context: RunContext
  private let address: UnityAddress
  private let http: HTTPClient

  /// - Throws: ``ServiceSettingsError`` with every setting that cannot be used.
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
}

extension UnityService: ArrivalChecking {
  func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, into arrivals: inout Arrivals
  ) throws {
    arrivals.count(.taken, .events, by: try store.ledger.statusCounts()[.successfullyPosted, default: 0])
    arrivals.explain(
      .events, "Unity Analytics does not tell what became of events that it took; its event browser shows it")
    // A sandbox goes by asOf.
    if context.sandboxAddress == nil { try UnityLimits.times.doubt(store, &arrivals) }
  }
}
