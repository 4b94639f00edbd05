import BatchConfiguration
import BatchFoundation
import DeltaDNARules

extension GameSettings {
  /// - Parameter arena: memory for the texts; lives as long as the settings.
  init(_ settings: Settings, in arena: Arena) {
    self.init()
    let game = settings.deltaDNA
    sdkVersion = arena.text(game.sdkVersion)
    platform = arena.text(game.platform ?? "")
    clientVersion = arena.text(game.clientVersion ?? "")
    dropsEmpty = game.dropsEmpty
    fillsSessionID = game.fillsSessionID
    deepLinkEventName = arena.text(game.deepLinkEventName ?? "")
    sendsNewPlayer = game.sendsNewPlayer
    sendsGameStarted = game.sendsGameStarted
    sendsClientDevice = game.sendsClientDevice
    sessionTimeout = game.sessionTimeout
    triggersMultipleActions = game.runsAllTriggeredActions
    acceptsLateRecords = settings.ingest.lateRecords != .quarantine
  }
}
