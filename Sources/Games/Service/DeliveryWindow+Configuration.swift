import BatchConfiguration
import BatchFoundation
import BatchStore

extension DeliveryWindow {
  /// The events that Collect takes at an instant (reference deltadna 5).
  init(_ settings: Settings, asOf: Instant) {
    let game = settings.deltaDNA
    self.init(
      after: Instant(milliseconds: asOf.milliseconds - game.oldestEvent.count), before: asOf + game.furthestAhead)
  }
}
