import BatchFoundation
import BatchPipeline
import Glibc

/// SIGINT and SIGTERM end a run in order; a second one ends it at once, which is as safe as a kill.
///
/// SIGHUP is as SIGTERM, unless it was ignored when the program started (`nohup`).
enum Signals {
  /// The signals that end a command.
  static var ending: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, SIGTERM)
    var hangUp = sigaction()
    unsafe sigaction(SIGHUP, nil, &hangUp)
    // Ignored is the handler with the number 1.
    if unsafe unsafeBitCast(hangUp.__sigaction_handler.sa_handler, to: Int.self) != 1 {
      unsafe sigaddset(&signals, SIGHUP)
    }
    return signals
  }

  /// What a run that begins now asks whether it is to end.
  ///
  /// - Throws: what ends the command, which was told.
  static func interruption() throws -> Interruption {
    let interruption = Interruption()
    // A closed pipe is an error of the write, not a reason to die.
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

/// The signals that end a command, for one that waits for them. Make it before other threads begin, because they inherit what is held back.
struct EndSignals {
  private var signals = Signals.ending

  init() {
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Returns when one of them arrives.
  func wait() {
    var waiting = signals
    var signal: Int32 = 0
    unsafe sigwait(&waiting, &signal)
  }
}
