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
  /// - Parameter figures: JSON that a line in JSON carries along.
  mutating func lines(_ messages: [String], figures: String? = nil, at now: Instant) -> [String] {
    let lines = messages.map { line($0, figures, now) }
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

  private func line(_ message: String, _ figures: String?, _ now: Instant) -> String {
    switch format {
    case .text: return hasTimes ? "\(now.rfc3339) \(message)" : message
    case .json:
      let own = figures.map { ",\"summary\":\($0)" } ?? ""
      return
        "{\"time\":\"\(now.rfc3339)\",\"level\":\"\(Self.level(of: message))\",\"message\":\(JSONString.quoted(message))\(own)}"
    }
  }

  /// By the word with which messages say how grave they are.
  private static func level(of message: String) -> String {
    for level in ["error", "warning"] where message.contains("\(level): ") { return level }
    return "info"
  }
}
