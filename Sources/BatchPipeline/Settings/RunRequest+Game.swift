import BatchConfiguration
import BatchFoundation
import BatchStore
import DeltaDNAPlatform

/// What a run is for a job whose destination is deltaDNA.
extension RunRequest {
  /// Nil for a job of Engage.
  var game: DeltaDNAPlatform? { job.destination == .deltadna ? DeltaDNAPlatform() : nil }

  var storeFormat: StoreFormat { game?.storeFormat ?? .engage }

  /// How much goes into one request.
  var limits: BlockLimits {
    guard game != nil else { return BlockLimits(settings) }
    return BlockLimits(
      maxEvents: settings.deltaDNA.maxEventsPerRequest, maxBodyBytes: settings.deltaDNA.maxBytesPerRequest)
  }

  /// When events have to lie that go out in this run; nil for all.
  var window: DeliveryWindow? { game == nil ? nil : DeliveryWindow(settings, asOf: asOf) }
}
