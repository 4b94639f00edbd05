import BatchFoundation

/// How words for people look on stderr, and whether they are kept back.
struct Log {
  enum Format: String, CaseIterable {
    case text, json
  }

  var format = Format.text
  /// Lines begin with the time; those in JSON always have it.
  var hasTimes = false
  /// Lines wait for the end of the command, which shows them unless all went well.
  var isHeld = false
  /// The job that lines in JSON name; nil before it is known.
  var job: String?
  private var held: [String] = []
  private var leftOut = 0

  /// More lines than this are not kept: the first ones go.
  static let mostHeld = 2000

  init(format: Format = .text, hasTimes: Bool = false, isHeld: Bool = false) {
    self.format = format
    self.hasTimes = hasTimes
    self.isHeld = isHeld
  }

  /// Whether a line may be put in place of another one.
  var isPlain: Bool { format == .text && !hasTimes && !isHeld }

  /// The lines as they are written now; none where they wait.
  ///
  /// What the last line of a run in JSON carries along.
  struct End {
    var exit: Int32
    /// The number of the run in its store; nil where it has none.
    var run: Int64?
    /// JSON; nil where nothing was counted.
    var figures: String?
  }

  /// - Parameter end: of the run whose last line it is.
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

  /// What waited; from now on nothing does.
  mutating func release(at now: Instant) -> [String] {
    let lines = leftOut > 0 ? [line("\(leftOut) lines before these were left out", nil, now)] + held : held
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

  /// By the word with which messages say how grave they are.
  private static func level(of message: String) -> String {
    for level in ["error", "warning"] where message.contains("\(level): ") { return level }
    return "info"
  }
}
