package import BatchFoundation

/// What the configuration says to the rules (reference deltadna 1); its texts outlive the rules.
package struct GameSettings {
  /// Parameter of every event, not empty.
  package var sdkVersion: Text
  /// Stand in where a device does not tell its own; empty for none.
  package var platform: Text
  package var clientVersion: Text
  package var dropsEmpty: Bool
  /// Objects and arrays without anything in them are dropped as well.
  package var dropsEmptied: Bool
  package var fillsSessionID: Bool
  /// The event that a link becomes; empty for none.
  package var deepLinkEventName: Text
  package var sendsNewPlayer: Bool
  package var sendsGameStarted: Bool
  package var sendsClientDevice: Bool
  /// Zero never ends a session.
  package var sessionTimeout: Milliseconds
  /// All campaigns that an event triggers act, or the first one only.
  package var triggersMultipleActions: Bool
  /// Records older than what an earlier run processed speak for themselves, or are quarantined.
  package var acceptsLateRecords: Bool

  package init(
    sdkVersion: Text, platform: Text, clientVersion: Text, dropsEmpty: Bool, dropsEmptied: Bool = false,
    fillsSessionID: Bool,
    deepLinkEventName: Text, sendsNewPlayer: Bool, sendsGameStarted: Bool, sendsClientDevice: Bool,
    sessionTimeout: Milliseconds, triggersMultipleActions: Bool, acceptsLateRecords: Bool
  ) {
    self.sdkVersion = sdkVersion
    self.platform = platform
    self.clientVersion = clientVersion
    self.dropsEmpty = dropsEmpty
    self.dropsEmptied = dropsEmptied
    self.fillsSessionID = fillsSessionID
    self.deepLinkEventName = deepLinkEventName
    self.sendsNewPlayer = sendsNewPlayer
    self.sendsGameStarted = sendsGameStarted
    self.sendsClientDevice = sendsClientDevice
    self.sessionTimeout = sessionTimeout
    self.triggersMultipleActions = triggersMultipleActions
    self.acceptsLateRecords = acceptsLateRecords
  }

  /// Whether a session is over after so long.
  func isOver(_ span: Milliseconds) -> Bool { sessionTimeout > .zero && span > sessionTimeout }

  /// The first instant at which a session is over that was last used then; nil for never.
  package func over(after lastUse: Instant) -> Instant? {
    sessionTimeout > .zero ? min(lastUse + sessionTimeout + Milliseconds(1), .last) : nil
  }
}
