import BatchFoundation

/// Codes of Universal Behavior events (reference events 1.1).
enum EventCode {
  static let installed: Text = "12"
  static let sessionStarted: Text = "13"
  static let sessionEnded: Text = "14"
  static let goalAbandoned: Text = "15"
  static let goalCompleted: Text = "16"
  static let namedEvent: Text = "17"
  /// Local and push notifications share it on the wire.
  static let receivedNotification: Text = "48"
  static let openedNotification: Text = "49"
}
