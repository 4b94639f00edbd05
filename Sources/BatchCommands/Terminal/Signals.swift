import BatchFoundation
import BatchPipeline
import Glibc

/// SIGINT and SIGTERM end a run in order; a second signal ends it at once, which is as safe as a kill.
///
/// SIGHUP acts like SIGTERM, unless it was ignored when the program started (`nohup`).
enum Signals {
  /// The signals that end a command.
  static var ending: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, SIGTERM)
    var hangUp = sigaction()
    unsafe sigaction(SIGHUP, nil, &hangUp)
    // The handler with the value 1 ignores the signal.
    if unsafe unsafeBitCast(hangUp.__sigaction_handler.sa_handler, to: Int.self) != 1 {
      unsafe sigaddset(&signals, SIGHUP)
    }
    return signals
  }

  /// Returns the interruption that a starting run checks.
  ///
  /// - Throws: The reported error that ends the command.
  static func interruption() throws -> Interruption {
    let interruption = Interruption()
    // A closed pipe should fail the write, not end the process.
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
    var signals = ending
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let waiting = signals
    try Failures.reported {
      try Threads.detach {
        var waiting = waiting
        var signal: Int32 = 0
        unsafe sigwait(&waiting, &signal)
        interruption.raise(signal)
        unsafe sigwait(&waiting, &signal)
        _exit(128 + signal)
      }
    }
    return interruption
  }
}

/// The signals that end a command. Create it before other threads start, because they inherit the blocked signals.
struct EndSignals {
  private var signals = Signals.ending

  init() {
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Returns when one of the signals arrives.
  func wait() {
    var waiting = signals
    var signal: Int32 = 0
    unsafe sigwait(&waiting, &signal)
  }
}
