import BatchFoundation
import Glibc

/// The two streams of a command: data on stdout, words for people on stderr.
enum Streams {
  static func data(_ line: String) { write(line, to: STDOUT_FILENO) }

  /// Lines may hold what was recorded or is called; nothing but their ends reaches a terminal as a control character.
  static func note(_ lines: String) {
    let printable = lines.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
    write(printable.joined(separator: "\n"), to: STDERR_FILENO)
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
