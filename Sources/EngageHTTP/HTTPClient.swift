import CCurl
import Synchronization

/// The one HTTP client. Calls block; any number of threads may call at once, and each gets a connection of its own, which a
/// later call uses again.
package final class HTTPClient: Sendable {
  package let settings: HTTPSettings
  /// Connections no call is using, the one used last at the end.
  private let idle = Mutex<[HTTPConnection]>([])

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

  /// Name and version of libcurl and of what it is built on, at run time.
  package static var libraryVersion: String { unsafe String(cString: curl_version()) }
}
