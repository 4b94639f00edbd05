import Glibc

/// The port of a sandbox, on the loopback interface only.
enum ListeningSocket {
  /// - Parameter port: 0 for any free one.
  /// - Returns: a socket that does not block, and its port.
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
