import BatchFoundation
import BatchThreads
import Glibc

/// The two streams of a command: data on stdout, words for people on stderr.
enum Streams {
  static func data(_ line: String) { write(line, to: STDOUT_FILENO) }

  private static let log = Guarded(Log())

  /// How words for people look from now on.
  static func begin(_ log: Log) { self.log.withLock { $0 = log } }

  /// Whether a line may be put in place of another one.
  static var isPlain: Bool { log.withLock(\.isPlain) }

  /// Lines may hold what was recorded or is called; nothing but their ends reaches a terminal as a control character.
  static func note(_ lines: String) {
    tell(lines.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable })
  }

  /// The end of a run: lines for people, of which a log in JSON has the first, with the figures as an object.
  static func summary(_ lines: [String], figures: String) {
    guard log.withLock({ $0.format == .json }) else { return lines.forEach(note) }
    tell(lines.prefix(1).map(\.printable), figures: figures)
  }

  /// Shows what was kept back.
  static func release() {
    for line in log.withLock({ $0.release(at: .now) }) { write(line, to: STDERR_FILENO) }
  }

  private static func tell(_ messages: [String], figures: String? = nil) {
    for line in log.withLock({ $0.lines(messages, figures: figures, at: .now) }) { write(line, to: STDERR_FILENO) }
  }

  /// Puts the text in place of the terminal's current line.
  static func replace(_ text: String) { write("\r\u{1B}[K" + text, to: STDERR_FILENO, end: "") }

  /// Writes the line and its end; a stream that was closed at the other end takes nothing more.
  private static func write(_ line: String, to descriptor: Int32, end: String = "\n") {
    var text = line + end
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while let base = rest.baseAddress, !rest.isEmpty {
        let count = Glibc.write(descriptor, base, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }
}
