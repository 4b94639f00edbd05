package import BatchConfiguration
package import BatchFoundation
package import GameRules

extension GameSettings {
  /// - Parameter arena: memory for the texts; lives as long as the settings.
  package init(_ settings: Settings, in arena: Arena) {
    let game = settings.deltaDNA
    self.init(
      sdkVersion: arena.text(game.sdkVersion),
      platform: arena.text(game.platform ?? ""),
      clientVersion: arena.text(game.clientVersion ?? ""),
      dropsEmpty: game.dropsEmpty,
      dropsEmptied: game.dropsEmptied,
      fillsSessionID: game.fillsSessionID,
      deepLinkEventName: arena.text(game.deepLinkEventName ?? ""),
      sendsNewPlayer: game.sendsNewPlayer,
      sendsGameStarted: game.sendsGameStarted,
      sendsClientDevice: game.sendsClientDevice,
      sessionTimeout: game.sessionTimeout,
      triggersMultipleActions: game.runsAllTriggeredActions,
      acceptsLateRecords: settings.ingest.lateRecords != .quarantine)
  }
}
