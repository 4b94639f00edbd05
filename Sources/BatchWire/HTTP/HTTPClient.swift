import BatchFoundation
import CCurl

/// The only HTTP client. Calls block and may come from any number of threads; each uses a separate connection.
///
/// A connection is reused only if its idle time is below ``HTTPSettings/idleSeconds``, below the time in the service's
/// `Keep-Alive` header, and below half the idle time of every connection that was lost without a response although the
/// request may have arrived.
package final class HTTPClient: Sendable {
  private struct Idle {
    /// The unused connections, the most recently used one last.
    var connections: [HTTPConnection] = []
    var limit: Duration
    /// The number of times all connections were abandoned; a connection taken before the last time is not kept.
    var generation = 0
  }

  package let settings: HTTPSettings
  private let idle: Guarded<Idle>
  /// The idle time below which a loss cannot be due to the service's timeout.
  private static let shortest = Duration.milliseconds(5)

  package init(_ settings: HTTPSettings) {
    self.settings = settings
    idle = Guarded(Idle(limit: .seconds(settings.idleSeconds)))
  }

  /// Sends the request once and waits for the response.
  ///
  /// At most one request per call reaches the service, even if a reused connection turns out to be dead: the request is
  /// sent again, on a new connection, only if the peer closed the old one before a byte of the request arrived.
  package func send(_ request: HTTPRequest, cancellation: HTTPCancellation? = nil) -> HTTPOutcome {
    guard request.isWellFormed else { return .notSent(HTTPFault(.invalidRequest)) }
    guard cancellation?.isCancelled != true else { return .notSent(HTTPFault(.cancelled)) }
    let (open, limit, generation) = idle.withLock { ($0.connections.popLast(), $0.limit, $0.generation) }
    guard let connection = open ?? HTTPConnection(settings) else { return .notSent(HTTPFault(.local)) }
    var result = connection.send(request, idleLimit: limit, cancellation: cancellation)
    learn(result)
    if result.wasUnheard, cancellation?.isCancelled != true {
      result = connection.send(request, idleLimit: .zero, cancellation: cancellation)
    }
    idle.withLock { if $0.generation == generation { $0.connections.append(connection) } }
    return result.outcome
  }

  /// Stops reusing all open connections, because one returned the response to a different request and would do so
  /// again.
  package func abandonConnections() {
    idle.withLock { idle in
      idle.connections = []
      idle.generation += 1
    }
  }

  private func learn(_ result: HTTPConnection.Result) {
    idle.withLock { idle in
      if let seconds = result.keepAliveSeconds {
        // One second is subtracted, because the service's clock started before its response arrived here.
        idle.limit = min(idle.limit, .seconds(max(0, seconds - 1)))
      }
      guard let lostAfter = result.lostAfter else { return }
      // The other connections may be lost too.
      idle.connections = []
      if !result.wasUnheard { idle.limit = min(idle.limit, lostAfter < Self.shortest ? .zero : lostAfter / 2) }
    }
  }

  /// The path of the system's certificate file, as configured in libcurl; nil if libcurl has none.
  package static var systemAuthorities: String? {
    guard let info = unsafe curl_version_info(engage_curl_version_now), let path = unsafe info.pointee.cainfo else {
      return nil
    }
    return unsafe String(cString: path)
  }

  /// The run-time versions of libcurl and its TLS library. They do not come from `curl_version()`, which would have the
  /// LDAP library look up this host.
  package static var libraryVersion: String {
    guard let info = unsafe curl_version_info(engage_curl_version_now) else { return "libcurl" }
    let tls = unsafe info.pointee.ssl_version.map { unsafe " " + String(cString: $0) } ?? ""
    return unsafe "libcurl/" + String(cString: info.pointee.version) + tls
  }
}

/// The connection settings and limits of a client. Seconds may have a fraction.
package struct HTTPSettings: Sendable {
  package enum Proxy: Sendable {
    /// A direct connection; variables such as `https_proxy` are ignored.
    case none
    /// A proxy at an address. The login is `user:password`; nil if the proxy needs none.
    case address(String, login: String? = nil)
  }

  package var connectSeconds: Double
  /// The limit from the start of the attempt to the last byte of the response.
  package var totalSeconds: Double
  /// The average number of bytes per second over ``rateSeconds`` below which an attempt ends, even while it waits; 0
  /// for no limit.
  package var minimumRate: Int
  package var rateSeconds = 45
  /// The maximum size of a response's body in bytes.
  package var answerLimit: Int
  /// The idle time in seconds after which a connection is not reused; 0 opens a connection for each request.
  package var idleSeconds: Double
  /// The certificates of all trusted authorities, as PEM; nil for the system's. See ``HTTPClient/systemAuthorities``.
  package var authorities: [UInt8]?
  package var proxy: Proxy

  package init(
    connectSeconds: Double, totalSeconds: Double, minimumRate: Int, answerLimit: Int, idleSeconds: Double,
    authorities: [UInt8]?, proxy: Proxy
  ) {
    self.connectSeconds = connectSeconds
    self.totalSeconds = totalSeconds
    self.minimumRate = minimumRate
    self.answerLimit = answerLimit
    self.idleSeconds = idleSeconds
    self.authorities = authorities
    self.proxy = proxy
  }
}

// The login is a credential, so no way of printing a proxy shows it.
extension HTTPSettings.Proxy: CustomStringConvertible, CustomReflectable {
  package var description: String {
    switch self {
    case .none: "none"
    case .address(let address, let login): login == nil ? address : "\(address) with a login"
    }
  }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .enum) }
}
