import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchReport
import BatchStore
import EngageIdentity
import RecipientModel

@testable import EngagePlatform

/// Engage as it is, but for its service, which is simulated.
struct SimulatedPlatform: Platform {
  let service: SimulatedEngage
  private let engage = EngagePlatform()

  init(_ service: SimulatedEngage) { self.service = service }

  var name: String { engage.name }
  var vocabulary: any RecordVocabulary { engage.vocabulary }
  var storeFormat: StoreFormat { engage.storeFormat }
  var eventColumns: [EventColumn] { engage.eventColumns }

  func rules(for run: RunContext) throws -> any DecisionRules { try engage.rules(for: run) }
  func storeDestination(_ settings: Settings) -> StoreDestination { engage.storeDestination(settings) }
  func limits(_ settings: Settings) -> BlockLimits { engage.limits(settings) }
  func describe(_ event: JSONNode, device: String) -> EventDescription { engage.describe(event, device: device) }
  func connect(_ run: RunContext) -> any PlatformService { service }

  func add(
    _ figures: [String: Int], _ details: (any PlatformDetails)?, of run: RunContext, to report: inout RunReport
  ) {
    engage.add(figures, details, of: run, to: &report)
  }
}

/// One life of a program at the simulated service: recipients first, then events.
struct SimulatedEngage: PlatformService {
  var recipients: ModelService
  var destination: any Destination

  var origin: String { "a simulation" }

  func beforeDelivery(_ stage: inout ServiceStage) throws {
    let result = try IdentityReconciler(
      store: stage.store, remote: recipients, settings: IdentitySettings(stage.context.settings),
      retryPolicy: RetryPolicy(tries: 20, backoff: Backoff(first: .zero, longest: .zero), pause: { _ in }),
      run: stage.run, now: stage.context.asOf
    ).reconcile()
    if let failure = result.failure { stage.exit = failure.exit }
  }
}
