import CCurl
import Glibc

/// One libcurl handle with its connection. It is used by one thread at a time.
///
/// `@unchecked Sendable`: a client, under the lock of its idle list, gives a connection to one call at a time.
@safe
final class HTTPConnection: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer
  private let settings: HTTPSettings
  private let watch: SocketWatch
  /// The time of the last complete response; nil if the connection cannot be reused.
  private var idleSince: ContinuousClock.Instant?
  /// The result of the initialization that libcurl requires once per process, before anything else.
  private static let initialized: Bool = curl_global_init(engage_curl_global_all) == CURLE_OK

  /// Returns nil if libcurl is out of memory or lacks an option that security depends on.
  init?(_ settings: HTTPSettings) {
    guard Self.initialized, let handle = unsafe curl_easy_init() else { return nil }
    unsafe self.handle = handle
    self.settings = settings
    watch = unsafe SocketWatch(handle)
    guard configure() else { return nil }
  }

  deinit { unsafe curl_easy_cleanup(handle) }

  struct Result {
    var outcome: HTTPOutcome
    /// Whether the peer closed the connection before a byte of the request reached it, so that the request can be
    /// repeated safely.
    var wasUnheard = false
    /// The idle time of a connection that was lost before a byte of the response arrived; nil if the attempt ended in
    /// another way.
    var lostAfter: Duration?
    /// The value of `Keep-Alive: timeout=` in seconds.
    var keepAliveSeconds: Int?
  }

  /// - Parameter idleLimit: the idle time that a reused connection must not reach; zero always opens a new
  ///   connection.
  func send(_ request: HTTPRequest, idleLimit: Duration, cancellation: HTTPCancellation?) -> Result {
    let transfer = unsafe HTTPTransfer(
      request, settings: settings, handle: handle, watch: watch, cancellation: cancellation)
    let idle = idleSince.map { ContinuousClock.now - $0 }
    idleSince = nil
    let mayReuse = idle.map { $0 < idleLimit } ?? false
    guard let headers = unsafe prepare(request, transfer, mayReuse: mayReuse) else {
      return Result(outcome: .notSent(HTTPFault(.local)))
    }
    let code = withExtendedLifetime(transfer) { unsafe curl_easy_perform(handle) }
    unsafe curl_slist_free_all(headers)
    var result = Result(outcome: outcome(code, transfer))
    if case .answer = result.outcome {
      idleSince = .now
      result.keepAliveSeconds = transfer.head.keepAliveSeconds
    }
    if case .noAnswer(let fault) = result.outcome, fault.kind == .cut, !transfer.hasAnswerBytes, mayReuse {
      result.wasUnheard = watch.wasUnheard
      result.lostAfter = idle
    }
    return result
  }

  // MARK: - Options

  /// Sets the options for all requests on this connection.
  private func configure() -> Bool {
    return long(CURLOPT_NOSIGNAL, 1)
      && text(CURLOPT_PROTOCOLS_STR, "http,https")
      && long(CURLOPT_FOLLOWLOCATION, 0)
      && long(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
      && long(CURLOPT_SSLVERSION, engage_curl_tls12)
      && long(CURLOPT_SSL_VERIFYPEER, 1) && long(CURLOPT_SSL_VERIFYHOST, 2)
      && configureAuthorities()
      && long(CURLOPT_PATH_AS_IS, 1)
      && long(CURLOPT_MAXAGE_CONN, Int(settings.idleSeconds.rounded(.up)) + 1) && long(CURLOPT_MAXCONNECTS, 1)
      && long(CURLOPT_TCP_KEEPALIVE, 1)
      && long(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(settings.connectSeconds))
      && long(CURLOPT_LOW_SPEED_LIMIT, settings.minimumRate) && long(CURLOPT_LOW_SPEED_TIME, settings.rateSeconds)
      && text(CURLOPT_USERAGENT, "engage-batch")
      && configureProxy() && configureCallbacks()
  }

  private func configureAuthorities() -> Bool {
    guard let authorities = settings.authorities else { return true }
    return unsafe authorities.withUnsafeBytes { bytes in
      unsafe engage_curl_set_authorities(handle, bytes.baseAddress, bytes.count) == CURLE_OK
    }
  }

  private func configureProxy() -> Bool {
    switch settings.proxy {
    // An empty name keeps libcurl from using the environment.
    case .none: text(CURLOPT_PROXY, "")
    case .address(let address, let login):
      text(CURLOPT_PROXY, address) && text(CURLOPT_NOPROXY, "localhost,127.0.0.1,::1")
        && (login == nil || text(CURLOPT_PROXYUSERPWD, login))
    }
  }

  private func configureCallbacks() -> Bool {
    unsafe engage_curl_set_data_callback(
      handle, CURLOPT_WRITEFUNCTION, { unsafe HTTPTransfer.from($3).receive($0, $1 * $2) }) == CURLE_OK
      && engage_curl_set_data_callback(
        handle, CURLOPT_HEADERFUNCTION, { unsafe HTTPTransfer.from($3).receiveHeader($0, $1 * $2) }) == CURLE_OK
      && engage_curl_set_data_callback(
        handle, CURLOPT_READFUNCTION, { unsafe HTTPTransfer.from($3).provide($0, $1 * $2) }) == CURLE_OK
      && engage_curl_set_seek_callback(handle, { _, _, _ in engage_curl_cannot_seek }) == CURLE_OK
      && engage_curl_set_progress_callback(
        handle, { context, _, _, _, _ in unsafe HTTPTransfer.from(context).shouldStop ? 1 : 0 }) == CURLE_OK
      && engage_curl_set_prerequest_callback(
        handle, { context, _, _, _, _ in unsafe HTTPTransfer.from(context).mayStart() }) == CURLE_OK
      && engage_curl_set_close_callback(
        handle, { context, socket in unsafe SocketWatch.from(context)?.close(socket) ?? close(socket) }) == CURLE_OK
      && engage_curl_set_pointer(
        handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(watch).toOpaque()) == CURLE_OK
      && long(CURLOPT_NOPROGRESS, 0)
  }

  /// Sets the options for this request. Returns its headers, which the caller must free; nil if an option was refused.
  private func prepare(
    _ request: HTTPRequest, _ transfer: HTTPTransfer, mayReuse: Bool
  ) -> UnsafeMutablePointer<curl_slist>? {
    let socket = mayReuse ? lastSocket : -1
    watch.watch(socket)
    var headers: UnsafeMutablePointer<curl_slist>?
    // With `Expect`, libcurl would wait before it sends the body, and repeat the request on a 417.
    for line in request.headers.map({ "\($0.name): \($0.value)" }) + ["Expect:"] {
      guard let longer = unsafe curl_slist_append(headers, line) else {
        unsafe curl_slist_free_all(headers)
        return nil
      }
      unsafe headers = longer
    }
    let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
    let ready =
      unsafe text(CURLOPT_URL, request.address.url(request.target))
      && prepareMethod(request)
      && engage_curl_set_list(handle, CURLOPT_HTTPHEADER, headers) == CURLE_OK
      && long(CURLOPT_FRESH_CONNECT, !mayReuse || hasStrayInput(socket) ? 1 : 0)
      && long(CURLOPT_TIMEOUT_MS, Self.milliseconds(request.totalSeconds ?? settings.totalSeconds))
      && [
        CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_XFERINFODATA, CURLOPT_PREREQDATA,
      ].allSatisfy { option in unsafe engage_curl_set_pointer(handle, option, context) == CURLE_OK }
    guard ready else {
      unsafe curl_slist_free_all(headers)
      return nil
    }
    return unsafe headers
  }

  /// Returns whether the last connection has unrequested bytes, or has ended. libcurl would take a late second
  /// response, or a 408 sent while the connection was idle, as the response to the next request.
  private func hasStrayInput(_ socket: curl_socket_t) -> Bool {
    guard socket >= 0 else { return false }
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) != 0
  }

  /// The socket of the last connection; -1 if it is closed.
  private var lastSocket: curl_socket_t {
    var socket: curl_socket_t = -1
    return unsafe engage_curl_get_socket(handle, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : -1
  }

  private func prepareMethod(_ request: HTTPRequest) -> Bool {
    switch request.method {
    case .get: return long(CURLOPT_HTTPGET, 1) && text(CURLOPT_CUSTOMREQUEST, nil)
    case .delete: return long(CURLOPT_HTTPGET, 1) && text(CURLOPT_CUSTOMREQUEST, "DELETE")
    case .post, .put:
      return unsafe long(CURLOPT_POST, 1) && text(CURLOPT_CUSTOMREQUEST, request.method == .put ? "PUT" : nil)
        && engage_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)) == CURLE_OK
    }
  }

  private func long(_ option: CURLoption, _ value: Int) -> Bool {
    unsafe engage_curl_set_long(handle, option, value) == CURLE_OK
  }

  /// libcurl copies the string.
  private func text(_ option: CURLoption, _ value: String?) -> Bool {
    guard let value else { return unsafe engage_curl_set_text(handle, option, nil) == CURLE_OK }
    return unsafe engage_curl_set_text(handle, option, value) == CURLE_OK
  }

  /// Returns at least 1, because libcurl treats 0 as no limit.
  private static func milliseconds(_ seconds: Double) -> Int { max(1, Int((min(seconds, 86_400) * 1000).rounded())) }

  // MARK: - Result

  private func outcome(_ code: CURLcode, _ transfer: HTTPTransfer) -> HTTPOutcome {
    if code == CURLE_OK, let answer = transfer.answer { return .answer(answer) }
    let kind = transfer.stopped ?? (code == CURLE_OK ? transfer.flaw : nil) ?? Self.kind(code)
    var fault = HTTPFault(kind, status: transfer.head.status, code: Int(code.rawValue))
    if code == CURLE_PEER_FAILED_VERIFICATION {
      fault.certificate = HTTPFault.Certificate(verification: info(CURLINFO_SSL_VERIFYRESULT))
    }
    fault.partial = transfer.partialAnswer
    return transfer.hasStarted && info(CURLINFO_REQUEST_SIZE) > 0 ? .noAnswer(fault) : .notSent(fault)
  }

  private func info(_ which: CURLINFO) -> Int {
    var value = 0
    return unsafe engage_curl_get_long(handle, which, &value) == CURLE_OK ? value : 0
  }

  private static func kind(_ code: CURLcode) -> HTTPFault.Kind {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
    case CURLE_COULDNT_CONNECT: .connect
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_SSL_CACERT_BADFILE: .authorities
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE:
      .tls
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND: .cut
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_OK, CURLE_BAD_CONTENT_ENCODING:
      .protocolViolation
    case CURLE_ABORTED_BY_CALLBACK: .cancelled
    case CURLE_URL_MALFORMAT: .invalidRequest
    default: .local
    }
  }
}
