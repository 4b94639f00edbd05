import BatchPlatform
import BatchThreads
import Glibc

/// SIGINT and SIGTERM end a run in order; a second one ends it at once, which is as safe as a kill.
enum Signals {
  ///
  /// - Throws: ``ThreadRefused``.
  static func pass(to interruption: Interruption) throws {
    // A closed pipe or a full quota is an error of the write, not a reason to die.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    umask(0o077)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let waiting = signals
    try Threads.detach {
      var waiting = waiting
      var signal: Int32 = 0
      sigwait(&waiting, &signal)
      interruption.raise(signal)
      sigwait(&waiting, &signal)
      _exit(128 + signal)
    }
  }
}

/// SIGINT and SIGTERM for a command that waits for them. Make it before other threads begin, for they inherit what is held back.
struct EndSignals {
  private var signals = sigset_t()

  init() {
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Returns when one of them arrives.
  func wait() {
    var waiting = signals
    var signal: Int32 = 0
    sigwait(&waiting, &signal)
  }
}
