import BatchFoundation

/// The format of messages on stderr, and whether they are held back.
struct Log {
  enum Format: String, CaseIterable {
    case text, json
  }

  var format = Format.text
  /// Whether lines begin with the time; JSON lines always contain it.
  var hasTimes = false
  /// Whether lines are held back until the end of the command, and shown only if it fails.
  var isHeld = false
  /// The job named in JSON lines; nil before it is known.
  var job: String?
  private(set) var held: [String] = []
  private(set) var leftOut = 0

  /// The maximum number of lines held back; earlier lines are dropped.
  static let mostHeld = 2000

  /// Whether a progress line on a terminal may be overwritten: only if lines are text, have no times and are not held
  /// back.
  var isPlain: Bool { format == .text && !hasTimes && !isHeld }

  /// The additional members of the last JSON line of a run.
  struct End {
    var exit: Int32
    /// The number of the run in its store; nil if it has none.
    var run: Int64?
    /// The figures as JSON; nil if nothing was counted.
    var figures: String?
  }

  /// Returns the lines to write now; empty while they are held back. `end` is given with the last line of a run.
  mutating func lines(_ messages: [String], end: End? = nil, at now: Instant) -> [String] {
    let lines = messages.map { line($0, end, now) }
    guard isHeld else { return lines }
    held += lines
    if held.count > Self.mostHeld {
      leftOut += held.count - Self.mostHeld
      held.removeFirst(held.count - Self.mostHeld)
    }
    return []
  }

  /// Returns the lines held back, and stops holding lines back.
  mutating func release(at now: Instant) -> [String] {
    let omitted = leftOut.counted("earlier line was", "earlier lines were") + " omitted"
    let lines = leftOut > 0 ? [line(omitted, nil, now)] + held : held
    (held, leftOut, isHeld) = ([], 0, false)
    return lines
  }

  private func line(_ message: String, _ end: End?, _ now: Instant) -> String {
    switch format {
    case .text: return hasTimes ? "\(now.rfc3339) \(message)" : message
    case .json:
      let level = end.map { $0.exit == 0 ? "info" : "error" } ?? Self.level(of: message)
      let members: [(String, String?)] = [
        ("time", "\"\(now.rfc3339)\""), ("level", "\"\(level)\""), ("message", JSONString.quoted(message)),
        ("job", job.map(JSONString.quoted)), ("run", end?.run.map { "\($0)" }), ("exit", end.map { "\($0.exit)" }),
        ("summary", end?.figures),
      ]
      return "{" + members.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }.joined(separator: ",") + "}"
    }
  }

  /// Returns the level that corresponds to the severity in the message.
  private static func level(of message: String) -> String {
    for level in ["error", "warning"] where message.contains("\(level): ") { return level }
    return "info"
  }
}
