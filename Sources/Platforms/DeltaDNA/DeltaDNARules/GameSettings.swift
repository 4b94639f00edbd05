package import BatchFoundation

/// What the configuration says to the rules (reference deltadna 1); its texts outlive the rules.
package struct GameSettings {
  /// Parameter of every event, not empty.
  package var sdkVersion: Text = "engage-batch"
  /// Stand in where a device does not tell its own; empty for none.
  package var platform: Text = .empty
  package var clientVersion: Text = .empty
  package var dropsEmpty = false
  package var fillsSessionID = true
  /// The event that a link becomes; empty for none.
  package var deepLinkEventName: Text = .empty
  package var sendsNewPlayer = true
  package var sendsGameStarted = true
  package var sendsClientDevice = true
  /// Zero never ends a session.
  package var sessionTimeout = Milliseconds(300_000)
  /// All campaigns that an event triggers act, or the first one only.
  package var triggersMultipleActions = false
  /// Records older than what an earlier run processed speak for themselves, or are quarantined.
  package var acceptsLateRecords = true

  package init() {}

  /// Whether a session is over after so long.
  func isOver(_ span: Milliseconds) -> Bool { sessionTimeout > .zero && span > sessionTimeout }
}
