import BatchPipeline
import Glibc

/// SIGINT and SIGTERM end a run in order; a second one ends it at once, which is as safe as a kill.
enum Signals {
  static func pass(to interruption: Interruption) {
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
    let thread = SignalThread {
      var waiting = waiting
      var signal: Int32 = 0
      sigwait(&waiting, &signal)
      interruption.raise(signal)
      sigwait(&waiting, &signal)
      _exit(128 + signal)
    }
    thread.start()
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

/// A thread that lives as long as the process.
private final class SignalThread {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func start() {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let status = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<SignalThread>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, context)
    if status == 0 { pthread_detach(thread) }
  }
}
