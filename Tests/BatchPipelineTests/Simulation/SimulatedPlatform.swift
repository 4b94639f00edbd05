import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import BatchStore
import BatchWire

@testable import Engage
@testable import Games

extension SimulatedKind {
  var platform: any Platform {
    switch self {
    case .engageSDK, .acousticMobile: EngagePlatform()
    case .deltadna: DeltaDNAPlatform()
    case .unity: UnityPlatform()
    }
  }

  /// As the platform's own destination has them.
  var traits: DeliveryTraits {
    isGame
      ? DeliveryTraits(isIdempotent: self == .deltadna, isOrdered: true, lanes: 8, mostAttempts: 6) : DeliveryTraits()
  }

  /// What the platform makes of an answer.
  func outcome(_ answer: HTTPOutcome, to body: [UInt8]) -> SendOutcome {
    switch self {
    case .engageSDK, .acousticMobile: Self.reading(of: answer, to: body)
    case .deltadna: SendOutcome(collect: answer, now: 0)
    case .unity: SendOutcome(collect: answer, isIdempotent: false, addressSettings: "the address", now: 0)
    }
  }

  private static func reading(of outcome: HTTPOutcome, to body: [UInt8]) -> SendOutcome {
    switch outcome {
    case .notSent(let fault): return .notSent(.notSent(fault))
    case .noAnswer(let fault): return .unknown(.unanswered(fault))
    case .answer(let answer):
      guard case .outcome(let outcome) = AnswerRules.readSubmission(answer, to: body, now: 0) else {
        return .refused(CallFault("the credentials were refused", stop: .credentials))
      }
      return outcome
    }
  }
}

/// A platform as it is, but for its service, which is simulated.
struct SimulatedPlatform: Platform {
  let platform: any Platform
  let service: @Sendable (RunContext) throws -> any PlatformService

  var name: String { platform.name }
  var vocabulary: RecordVocabulary { platform.vocabulary }
  var storeFormat: StoreFormat { platform.storeFormat }
  var eventColumns: [EventColumn] { platform.eventColumns }

  func rules(for run: RunContext) throws -> any PlatformRules { try platform.rules(for: run) }
  func storeDestination(_ settings: Settings) -> StoreDestination { platform.storeDestination(settings) }
  func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow? { platform.window(settings, asOf: asOf) }
  func form(_ settings: Settings) -> Int { platform.form(settings) }
  func deliverySettings(_ settings: Settings) -> DeliverySettings { platform.deliverySettings(settings) }
  func describe(_ event: JSONView, device: JSONView?) -> EventDescription { platform.describe(event, device: device) }
  func connect(_ run: RunContext) throws -> any PlatformService { try service(run) }

  func add(
    _ figures: [String: Int], _ details: ProcessingDetails?, of run: RunContext, to report: inout RunReport
  ) {
    platform.add(figures, details, of: run, to: &report)
  }
}

/// One life of a program at the simulated service.
struct SimulatedConnection: PlatformService {
  var destination: any Destination
  /// Nil for a service without recipients.
  var engage: EngageConnection?

  var origin: String { "a simulation" }

  func beforeDelivery(_ stage: inout ServiceStage) throws { try engage?.beforeDelivery(&stage) }
}
