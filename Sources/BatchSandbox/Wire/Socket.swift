import CLinux
import Glibc

/// A connection on a ``SocketLoop``.
final class Socket {
  let descriptor: CInt
  fileprivate(set) var isOpen = true
  /// Kept until the socket is closed.
  var owner: ConnectionHandler?
  /// Whether received data is read; a disconnect by the peer is always noticed.
  var isReading = true
  private var output: [UInt8] = []
  private var sent = 0
  /// Called with whether all of the output was sent; nil for no callback.
  private var flushed: ((Bool) -> Void)?

  init(_ descriptor: CInt) {
    self.descriptor = descriptor
    var on: CInt = 1
    unsafe setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
  }

  /// Sends bytes, after earlier ones, as the peer accepts them. `flushed` is called with whether everything was sent,
  /// and replaces a callback that is still pending.
  func write(_ bytes: [UInt8], _ flushed: ((Bool) -> Void)? = nil) {
    guard isOpen else {
      flushed?(false)
      return
    }
    if output.isEmpty { output = bytes } else { output += bytes }
    if let flushed { self.flushed = flushed }
    flush()
  }

  /// Closes the connection normally (FIN).
  func close() {
    guard isOpen else { return }
    isOpen = false
    Glibc.close(descriptor)
    let (owner, flushed) = (owner, flushed)
    (self.owner, self.flushed, output) = (nil, nil, [])
    flushed?(false)
    owner?.closed()
  }

  /// Resets the connection (RST): the peer loses what it has not read yet.
  func reset() {
    guard isOpen else { return }
    var option = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  var awaited: Int16 {
    Int16(isReading ? POLLIN : 0) | engage_peer_closed | Int16(output.isEmpty ? 0 : POLLOUT)
  }

  func serve(_ events: Int16, _ piece: UnsafeMutableRawBufferPointer) {
    // Serving another socket may have closed this one.
    guard isOpen else { return }
    if events & Int16(POLLOUT) != 0 { flush() }
    if isReading {
      if events & (Int16(POLLIN | POLLHUP | POLLERR) | engage_peer_closed) != 0 { unsafe read(piece) }
    } else if events & (Int16(POLLHUP | POLLERR) | engage_peer_closed) != 0 {
      close()
    }
  }

  /// Reads a limited number of times, so that other sockets get their turn.
  private func read(_ piece: UnsafeMutableRawBufferPointer) {
    for _ in 0..<16 {
      guard isOpen, isReading else { return }
      let count = unsafe recv(descriptor, piece.baseAddress, piece.count, 0)
      if count > 0 {
        unsafe owner?.received(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      } else if count < 0, errno == EAGAIN {
        return
      } else if count == 0 || errno != EINTR {
        close()
      }
    }
  }

  private func flush() {
    while isOpen, sent < output.count {
      let count = unsafe output.withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress.map { unsafe $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        close()
      }
    }
    guard isOpen else { return }
    (output, sent) = ([], 0)
    let flushed = flushed
    self.flushed = nil
    flushed?(true)
  }
}

/// The listening socket of a sandbox, on the loopback interface only.
enum ListeningSocket {
  /// - Parameter port: 0 for any free one.
  /// - Returns: a nonblocking socket, and its port.
  /// - Throws: ``SandboxPortError``.
  static func open(port: Int) throws(SandboxPortError) -> (descriptor: CInt, port: Int) {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_INET, type, 0)
    guard descriptor >= 0 else { throw SandboxPortError(port: port, code: errno) }
    var on: CInt = 1
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    address.sin_port = in_port_t(UInt16(clamping: port)).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isOpen = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(descriptor, address, length) == 0 && listen(descriptor, 256) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    guard isOpen else {
      let code = errno
      close(descriptor)
      throw SandboxPortError(port: port, code: code)
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }
}
