import BatchFoundation
import CCurl

/// The one HTTP client. Calls block; any number of threads may call at once, and each gets a connection of its own, which a
/// later call uses again.
///
/// A connection is used again if it was idle for no longer than ``HTTPSettings/idleSeconds``, than the service's `Keep-Alive` allows, and
/// than half of what another had been idle that was lost without an answer.
package final class HTTPClient: Sendable {
  private struct Idle {
    /// Connections no call is using, the one used last at the end.
    var connections: [HTTPConnection] = []
    var limit: Duration
    /// How often all connections were given up; one that was taken before that is not kept.
    var generation = 0
  }

  package let settings: HTTPSettings
  private let idle: Guarded<Idle>
  /// A connection that is lost sooner than after this is lost whatever the service's clock does.
  private static let shortest = Duration.milliseconds(5)

  package init(_ settings: HTTPSettings) {
    self.settings = settings
    idle = Guarded(Idle(limit: .seconds(settings.idleSeconds)))
  }

  /// Sends the request once and waits for its answer.
  ///
  /// One call is at most one request that reaches the service, also when a connection that is used again turns out to be dead. Where the
  /// peer had closed it before a byte of the request arrived, the request goes out on a new connection.
  package func send(_ request: HTTPRequest, cancellation: HTTPCancellation? = nil) -> HTTPOutcome {
    guard request.isWellFormed else { return .notSent(HTTPFault(.invalidRequest)) }
    guard cancellation?.isCancelled != true else { return .notSent(HTTPFault(.cancelled)) }
    let (waiting, limit, generation) = idle.withLock { ($0.connections.popLast(), $0.limit, $0.generation) }
    guard let connection = waiting ?? HTTPConnection(settings) else { return .notSent(HTTPFault(.local)) }
    var result = connection.send(request, idleLimit: limit, cancellation: cancellation)
    learn(result)
    if result.wasUnheard, cancellation?.isCancelled != true {
      result = connection.send(request, idleLimit: .zero, cancellation: cancellation)
    }
    idle.withLock { if $0.generation == generation { $0.connections.append(connection) } }
    return result.outcome
  }

  /// Uses no connection again that is open now: one of them gave the answer to another question, and the next one on it would too.
  package func abandonConnections() {
    idle.withLock { idle in
      idle.connections = []
      idle.generation += 1
    }
  }

  private func learn(_ result: HTTPConnection.Result) {
    idle.withLock { idle in
      if let seconds = result.keepAliveSeconds {
        // A second less: the service's clock started before its answer arrived here.
        idle.limit = min(idle.limit, .seconds(max(0, seconds - 1)))
      }
      guard let lostAfter = result.lostAfter else { return }
      // The others may have met the same fate.
      idle.connections = []
      if !result.wasUnheard { idle.limit = min(idle.limit, lostAfter < Self.shortest ? .zero : lostAfter / 2) }
    }
  }

  /// The file of the system's authorities, as libcurl was built; nil if it has none.
  package static var systemAuthorities: String? {
    guard let info = unsafe curl_version_info(engage_curl_version_now), let path = unsafe info.pointee.cainfo else {
      return nil
    }
    return unsafe String(cString: path)
  }

  /// Versions of libcurl and of its TLS library, at run time.
  ///
  /// Not `curl_version()`: that one makes the LDAP library look up the name of this host.
  package static var libraryVersion: String {
    guard let info = unsafe curl_version_info(engage_curl_version_now) else { return "libcurl" }
    let tls = unsafe info.pointee.ssl_version.map { unsafe " " + String(cString: $0) } ?? ""
    return unsafe "libcurl/" + String(cString: info.pointee.version) + tls
  }
}

/// How a client connects and how long it waits. Seconds may have a fraction.
package struct HTTPSettings: Sendable {
  package enum Proxy: Sendable {
    /// Straight to the service, whatever the environment says.
    case none
    /// The login is `user:password`, nil for a proxy that asks for none.
    case address(String, login: String? = nil)
    /// `https_proxy` and its kin, because the operator asked for it.
    case environment
  }

  package var connectSeconds: Double
  /// From the start of the attempt to the last byte of the answer.
  package var totalSeconds: Double
  /// Bytes a second, averaged over ``rateSeconds``; below it the attempt ends. Waiting for an answer counts. 0 for no limit.
  package var minimumRate: Int
  package var rateSeconds: Int
  /// Bytes of an answer's body.
  package var answerLimit: Int
  /// Bytes of an answer's head, interim answers included.
  package var headLimit: Int
  /// Seconds a connection may have been idle to be used again; 0 connects anew for each request.
  package var idleSeconds: Double
  /// The certificates of all authorities to trust, as PEM; nil for those of the system. See ``HTTPClient/systemAuthorities``.
  package var authorities: [UInt8]?
  package var proxy: Proxy
  package var userAgent: String

  package init(
    connectSeconds: Double, totalSeconds: Double, minimumRate: Int, rateSeconds: Int = 45, answerLimit: Int,
    headLimit: Int = 64 << 10, idleSeconds: Double, authorities: [UInt8]? = nil,
    proxy: Proxy = .none, userAgent: String = "engage-batch"
  ) {
    self.connectSeconds = connectSeconds
    self.totalSeconds = totalSeconds
    self.minimumRate = minimumRate
    self.rateSeconds = rateSeconds
    self.answerLimit = answerLimit
    self.headLimit = headLimit
    self.idleSeconds = idleSeconds
    self.authorities = authorities
    self.proxy = proxy
    self.userAgent = userAgent
  }
}

// The login is a credential, so no way of printing a proxy shows it.
extension HTTPSettings.Proxy: CustomStringConvertible, CustomReflectable {
  package var description: String {
    switch self {
    case .none: "none"
    case .address(let address, let login): login == nil ? address : "\(address) with a login"
    case .environment: "of the environment"
    }
  }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .enum) }
}
