import CCurl
import Glibc

/// Tells whether a connection that is used again was closed by its peer before a byte of the request reached it.
///
/// A server may close an idle connection at the moment a request leaves. Then the peer's end of the stream comes without any
/// acknowledgement, by TCP, of the request's bytes: its program cannot have seen them, and the system answers them with a reset.
@safe
final class SocketWatch {
  private var socket: curl_socket_t = -1
  private var acknowledged: Int64 = -1
  private var isSending = false
  /// The last request of the connection did not reach the peer.
  private(set) var wasUnheard = false
  private let handle: UnsafeMutableRawPointer

  init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = unsafe handle }

  static func from(_ context: UnsafeMutableRawPointer?) -> SocketWatch? {
    unsafe context.map { unsafe Unmanaged<SocketWatch>.fromOpaque($0).takeUnretainedValue() }
  }

  /// To be called before a request.
  ///
  /// - Parameter socket: of the connection that is used again, if one is; -1 for none.
  func watch(_ socket: curl_socket_t) {
    self.socket = socket
    acknowledged = socket >= 0 ? engage_tcp_bytes_acknowledged(socket) : -1
    isSending = false
    wasUnheard = false
  }

  /// The request begins to be sent, on the connection that is watched or on another.
  func begin() { isSending = true }

  /// To be called in place of closing a socket.
  func close(_ socket: curl_socket_t) -> CInt {
    if socket == self.socket {
      if isSending { wasUnheard = closedUnheard() }
      self.socket = -1
    }
    return Glibc.close(socket)
  }

  private func closedUnheard() -> Bool {
    var error = 0
    // A reset says nothing of what was read before it, but one that follows the end of the stream (EPIPE) does not matter.
    guard acknowledged >= 0, unsafe engage_curl_get_long(handle, CURLINFO_OS_ERRNO, &error) == CURLE_OK,
      error == 0 || error == Int(EPIPE)
    else { return false }
    var byte: UInt8 = 0
    return unsafe recv(socket, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 0
      && engage_tcp_bytes_acknowledged(socket) == acknowledged
  }
}
