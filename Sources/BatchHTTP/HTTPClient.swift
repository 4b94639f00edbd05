import BatchThreads
import CCurl

/// The one HTTP client. Calls block; any number of threads may call at once, and each gets a connection of its own, which a
/// later call uses again.
package final class HTTPClient: Sendable {
  package let settings: HTTPSettings
  /// Connections no call is using, the one used last at the end.
  private let idle = Guarded<[HTTPConnection]>([])

  package init(_ settings: HTTPSettings = HTTPSettings()) {
    self.settings = settings
  }

  /// Sends the request once and waits for its answer.
  ///
  /// One call is at most one request on the wire, also when a connection that is used again turns out to be dead.
  package func send(_ request: HTTPRequest, cancellation: HTTPCancellation? = nil) -> HTTPOutcome {
    guard request.isWellFormed else { return .notSent(HTTPFault(.invalidRequest)) }
    guard cancellation?.isCancelled != true else { return .notSent(HTTPFault(.cancelled)) }
    guard let connection = idle.withLock({ $0.popLast() }) ?? HTTPConnection(settings) else {
      return .notSent(HTTPFault(.local))
    }
    let outcome = connection.send(request, cancellation: cancellation)
    idle.withLock { $0.append(connection) }
    return outcome
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
