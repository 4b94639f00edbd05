import BatchFoundation

/// What an event is called where people read.
package enum EventWords {
  /// With its code behind it; a code of the caller's own, or the name of a game's event, stands for itself.
  package static func of(_ code: String) -> String {
    Wording.eventName(code).map { "\($0) (code \(code))" } ?? "event \(code.printable)"
  }
}
