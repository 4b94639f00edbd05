import BatchFoundation
import Foundation

/// A server on the loopback device that does to each connection what a test's script says, down to single bytes, and keeps a
/// ledger of what really arrived.
package final class LoopbackServer: Sendable {
  /// A request of which at least one byte arrived.
  package struct Arrival: Sendable {
    package var connection: Int
    /// Counted from 0 on its connection.
    package var place: Int
    package var head: String
    package var body: [UInt8]

    package var requestLine: String { String(head.prefix { $0 != "\r\n" }) }

    /// The value of a header of the request; nil if it has none.
    package func header(_ name: String) -> String? {
      head.split(separator: "\r\n").dropFirst().first { $0.lowercased().hasPrefix(name.lowercased() + ":") }.map {
        $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
      }
    }
  }

  package let port: Int
  private let listener: CInt
  private let ledger = Guarded<[Arrival]>([])
  private let accepted = Guarded(0)

  /// - Parameter script: runs for each connection on a thread of its own; the connection closes when it returns.
  package init(_ script: @escaping @Sendable (LoopbackConnection) -> Void) throws {
    signal(SIGPIPE, SIG_IGN)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bind(descriptor, generic, length) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, generic, &length) == 0
      }
    }
    guard bound else { throw POSIXError(.EADDRNOTAVAIL) }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [weak self, descriptor] in
      // This thread closes the descriptor: closed elsewhere, its number could be another server's by the next `accept`.
      defer { close(descriptor) }
      while true {
        let socket = accept(descriptor, nil, nil)
        guard socket >= 0 else { return }
        guard let self else {
          close(socket)
          return
        }
        let number = self.accepted.withLock { count in
          count += 1
          return count - 1
        }
        let connection = LoopbackConnection(socket: socket, number: number, server: self)
        Thread.detachNewThread {
          script(connection)
          connection.close()
        }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// Everything that arrived so far.
  package var arrivals: [Arrival] { ledger.withLock { $0 } }

  /// Connections accepted so far.
  package var connections: Int { accepted.withLock { $0 } }

  func note(connection: Int, place: Int, head: String, body: [UInt8]) {
    ledger.withLock { arrivals in
      if let index = arrivals.firstIndex(where: { $0.connection == connection && $0.place == place }) {
        arrivals[index].head = head
        arrivals[index].body = body
      } else {
        arrivals.append(Arrival(connection: connection, place: place, head: head, body: body))
      }
    }
  }
}
