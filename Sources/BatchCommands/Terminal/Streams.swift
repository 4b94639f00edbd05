import BatchFoundation
import BatchPipeline
import BatchReport
import Glibc

/// The two streams of a command: data on stdout, words for people on stderr.
enum Streams {
  private static let failure = Guarded<Int32?>(nil)

  /// Whether data is missing on stdout, which was told then.
  ///
  /// A pipe that was closed is not a failure: whoever reads has enough.
  static var hasFailed: Bool { failure.withLock { $0.map { $0 != EPIPE } ?? false } }

  /// Whether people look at a stream.
  private static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// A line for stdout; nothing more is written there once a write has failed. On a terminal nothing but its end is a control character.
  static func data(_ line: String) {
    let line = isTerminal(STDOUT_FILENO) ? TerminalText.spelledOut(line) : line
    guard failure.withLock({ $0 == nil }), let code = write(line + "\n", to: STDOUT_FILENO) else { return }
    failure.withLock { $0 = code }
    if code != EPIPE { note("\(OutputError(path: "-", code: code))") }
  }

  private static let log = Guarded(Log())
  private static let colours = Guarded(false)

  /// Whether errors and warnings have a colour from now on.
  static func begin(_ colour: Colour) {
    let isOn = colour.isOn(STDERR_FILENO) { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
    colours.withLock { $0 = isOn }
  }

  /// How words for people look from now on.
  static func begin(_ log: Log) { self.log.withLock { $0 = log } }

  /// Which job words are about from now on.
  static func begin(job: String) { log.withLock { $0.job = job } }

  /// Whether a line may be put in place of another one.
  static var isPlain: Bool { log.withLock(\.isPlain) }

  /// Lines may hold what was recorded or is called; nothing but their ends reaches a terminal as a control character.
  static func note(_ lines: String) {
    tell(lines.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable })
  }

  /// The end of a run: lines for people, of which a log in JSON has the first, with what else is known as members.
  static func summary(_ lines: [String], _ end: Log.End) {
    guard log.withLock({ $0.format == .json }) else { return lines.forEach(note) }
    tell(lines.prefix(1).map(\.printable), end: end)
  }

  /// The last line of a log in JSON of a command that came to no summary; people have read the error.
  static func end(_ exit: Int32) {
    guard let job = log.withLock({ $0.format == .json ? $0.job ?? "" : nil }) else { return }
    let words = RunExit(rawValue: exit).map { ", \(Wording.ending($0))" } ?? ""
    tell(["\(job.isEmpty ? "" : "\(job): ")ended with exit code \(exit)\(words)"], end: Log.End(exit: exit))
  }

  /// Shows what was kept back. What cannot be written to stderr has nobody left to be told to.
  static func release() {
    for line in log.withLock({ $0.release(at: .now) }) { show(line) }
  }

  private static func show(_ line: String) {
    let isColoured = colours.withLock { $0 } && log.withLock { $0.format == .text }
    _ = write((isColoured ? Colour.coloured(line) : line) + "\n", to: STDERR_FILENO)
  }

  private static func tell(_ messages: [String], end: Log.End? = nil) {
    for line in log.withLock({ $0.lines(messages, end: end, at: .now) }) { show(line) }
  }

  /// Puts the text in place of the terminal's current line.
  static func replace(_ text: String) { _ = write("\r\u{1B}[K" + text, to: STDERR_FILENO) }

  /// - Returns: the number of the system's error; nil when everything was written.
  private static func write(_ text: String, to descriptor: Int32) -> Int32? {
    var text = text
    return text.withUTF8 { bytes -> Int32? in
      do throws(SystemError) {
        try unsafe FileDescriptor.write(UnsafeRawBufferPointer(bytes), to: descriptor)
        return nil
      } catch {
        return error.code
      }
    }
  }
}
