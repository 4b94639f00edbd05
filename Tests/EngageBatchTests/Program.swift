import FoundationEssentials
import Glibc
import Testing

/// What a program left behind.
struct Finished: Sendable, Equatable {
  /// The exit code, or 128 and the number of the signal that killed it, as a shell says it.
  var code: Int32
  var output: String
  var messages: String

  var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// A program that is running, with its output going to files.
final class Running {
  let process: pid_t
  private let outputPath: String
  private let messagesPath: String
  private var code: Int32?

  /// - Parameter environment: all of it; nothing of the tests' own is passed on.
  init(_ path: String, _ arguments: [String], in folder: String, environment: [String: String], output: String) throws {
    outputPath = output + ".stdout"
    messagesPath = output + ".stderr"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, messagesPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    // Signals that the threads of the tests block or ignore are the program's again.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    // The shell is the program after `exec`, in the same process.
    let shell = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder, path]
    var words: [UnsafeMutablePointer<CChar>?] = (shell + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in words + variables { free(pointer) } }
    var process = pid_t()
    let status = posix_spawn(&process, shell[0], &actions, &attributes, &words, &variables)
    guard status == 0 else { throw SpawnError(path: path, code: status) }
    self.process = process
  }

  deinit {
    guard code == nil else { return }
    kill(process, SIGKILL)
    _ = finish()
  }

  /// What it has written to stderr so far.
  var messages: String { Self.text(messagesPath) }

  func signal(_ number: Int32) { kill(process, number) }

  /// Waits for its end.
  @discardableResult
  func finish() -> Finished {
    var status: Int32 = 0
    while code == nil {
      if waitpid(process, &status, 0) == process {
        let signal = status & 0x7f
        code = signal == 0 ? status >> 8 & 0xff : 128 + signal
      } else if errno != EINTR {
        break
      }
    }
    return Finished(code: code ?? -1, output: Self.text(outputPath), messages: messages)
  }

  /// Waits for its end for a minute: something without an end is an end by a signal.
  func finishWithinAMinute() -> Finished {
    for _ in 0..<6000 where !isFinished() { usleep(10_000) }
    if !isFinished() { signal(SIGKILL) }
    return finish()
  }

  /// Whether its end came within the time.
  func isFinished() -> Bool {
    var information = siginfo_t()
    return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0 && information.si_signo != 0
  }

  /// Waits until the program has said that on stderr; fails the test after 20 seconds, or when the program ends first.
  func waitFor(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) {
    for _ in 0..<2000 {
      if messages.contains(words) { return }
      if isFinished() { break }
      usleep(10_000)
    }
    if !messages.contains(words) { Issue.record("never said '\(words)': \(messages)", sourceLocation: sourceLocation) }
  }

  private static func text(_ path: String) -> String {
    // A file that is not there yet holds nothing yet.
    String(decoding: (try? Data(contentsOf: URL(filePath: path))) ?? Data(), as: UTF8.self)
  }
}

struct SpawnError: Error { var path: String, code: Int32 }
