import BatchFoundation
import Glibc

/// What a process settles about itself before anything else.
enum ProcessSetup {
  static func begin() {
    openStandardDescriptors()
    // A full quota is an error of the write, not a reason to die.
    signal(SIGXFSZ, SIG_IGN)
    refuseCoreDumps()
    for name in obeyedByLibraries { unsafe unsetenv(name) }
  }

  /// What libraries would do for whoever sets a variable: libcurl writes the keys of TLS connections to a file, or takes another library for
  /// them, OpenSSL and the C library read configurations and load code. Proxies are set, or not, by configuration.
  private static let obeyedByLibraries = [
    "SSLKEYLOGFILE", "CURL_SSL_BACKEND", "QLOGDIR", "OSSL_QFILTER",
    "OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES", "OPENSSL_ENGINES", "OPENSSL_TRACE", "CTLOG_FILE",
    "RANDFILE", "GCONV_PATH", "XML_CATALOG_FILES", "SGML_CATALOG_FILES",
  ]

  /// Files, connections and the store of a run at once, with some to spare.
  private static let descriptors: rlim_t = 64

  /// - Parameter more: files that are open at once besides.
  /// - Throws: ``TooFewDescriptors``; a run that finds none left in the middle could only fail.
  static func requireDescriptors(more: Int = 0) throws {
    let descriptors = descriptors + rlim_t(more)
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < descriptors else { return }
    // A program may raise the limit up to what its user may have.
    limit.rlim_cur = min(descriptors, limit.rlim_max)
    unsafe setrlimit(resource, &limit)
    guard limit.rlim_cur >= descriptors else { throw TooFewDescriptors(limit: limit.rlim_cur, needed: descriptors) }
  }

  /// What is opened next would else get the number of a stream that was closed, and be written to as if it were that stream.
  private static func openStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // The lowest free number is the one that is missing.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }

  /// Memory holds credentials and what was recorded. `ENGAGE_CORE_DUMPS=1` leaves the limit as it is.
  private static func refuseCoreDumps() {
    if let asked = unsafe getenv("ENGAGE_CORE_DUMPS"), unsafe String(cString: asked) == "1" { return }
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}

/// The system lets the process open fewer files than a run needs.
struct TooFewDescriptors: RunError, CustomStringConvertible {
  var limit: UInt
  var needed: UInt

  var exit: RunExit { .inputOutput }
  var description: String {
    "error: only \(limit) files may be open at once, and a run needs \(needed); raise the limit with 'ulimit -n'"
  }
}
