import BatchFoundation
import BatchPipeline
import Glibc

enum ProcessSetup {
  static func begin() {
    openStandardDescriptors()
    // An exceeded file size limit should fail the write, not end the process.
    signal(SIGXFSZ, SIG_IGN)
    refuseCoreDumps()
    for name in obeyedByLibraries { unsafe unsetenv(name) }
  }

  /// The environment variables that are removed because libraries obey them: libcurl would write TLS keys to a file or
  /// replace its TLS library; OpenSSL and the C library would read configurations and load code. Only the configuration
  /// sets proxies.
  private static let obeyedByLibraries = [
    "SSLKEYLOGFILE", "CURL_SSL_BACKEND", "QLOGDIR", "OSSL_QFILTER",
    "OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES", "OPENSSL_ENGINES", "OPENSSL_TRACE", "CTLOG_FILE",
    "RANDFILE", "GCONV_PATH", "XML_CATALOG_FILES", "SGML_CATALOG_FILES",
  ]

  /// The number of descriptors that a run needs for files, connections and the store, with some to spare.
  private static let descriptors: rlim_t = 64

  /// Ensures that the run can open enough files, plus `more`, because a run that exceeds the limit midway fails.
  static func requireDescriptors(more: Int = 0) throws {
    let descriptors = descriptors + rlim_t(more)
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < descriptors else { return }
    // A process may raise its limit up to the hard limit.
    limit.rlim_cur = min(descriptors, limit.rlim_max)
    unsafe setrlimit(resource, &limit)
    guard limit.rlim_cur >= descriptors else {
      throw CommandError(
        .inputOutput,
        "error: only \(limit.rlim_cur) files may be open at once, but a run needs \(descriptors); raise the hard limit with 'ulimit -Hn \(descriptors)'"
      )
    }
  }

  /// Opens missing standard streams; otherwise the next file opened would get a standard stream's number and
  /// its output.
  private static func openStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // The lowest free number is the missing one.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }

  /// Disables core dumps, because memory contains credentials and recorded data. `ENGAGE_CORE_DUMPS=1` leaves the limit
  /// unchanged.
  private static func refuseCoreDumps() {
    if let asked = unsafe getenv("ENGAGE_CORE_DUMPS"), unsafe String(cString: asked) == "1" { return }
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}

/// SIGINT and SIGTERM end a run gracefully; a second signal ends it at once, which is as safe as a kill.
///
/// SIGHUP acts like SIGTERM, unless it was ignored when the program started (`nohup`).
enum Signals {
  /// Blocks the signals that end a command in this thread, and in those that it starts from now on, and returns these
  /// signals. From now on, a closed pipe fails the write instead of ending the process, and new files are readable only
  /// by their owner.
  static func block() -> sigset_t {
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
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
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    return signals
  }

  /// Returns the next of the signals when it arrives.
  static func wait(for signals: inout sigset_t) -> Int32 {
    var signal: Int32 = 0
    unsafe sigwait(&signals, &signal)
    return signal
  }

  /// Starts to handle signals, and returns the interruption that a run checks.
  ///
  /// - Throws: ``ThreadRefused``.
  static func interruption() throws -> Interruption {
    let interruption = Interruption()
    let blocked = block()
    try Threads.detach {
      var signals = blocked
      interruption.raise(wait(for: &signals))
      _exit(128 + wait(for: &signals))
    }
    return interruption
  }
}
