import CLinux
import Glibc

/// The sockets and timers of one thread, which waits for them in `poll` and is never blocked otherwise. Everything is
/// called on the thread of ``run(_:)``, so requests are carried out in order of arrival. `poll` checks all sockets each
/// time: a sandbox has dozens of them, not thousands.
@safe final class SocketLoop {
  private struct Timer {
    var instant: UInt64
    var body: () -> Void
  }

  private let listener: CInt
  /// Becomes readable when the loop must end.
  private let ending: CInt
  private var sockets: [Socket] = []
  /// The timers, sorted by instant and, for equal instants, by order of creation.
  private var timers: [Timer] = []
  /// False briefly after the system has run out of descriptors.
  private var isAccepting = true
  /// The buffer for reading from sockets; it lives as long as the loop.
  private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

  /// - Parameter listener: a nonblocking listening socket; the loop closes it.
  init(listener: CInt, ending: CInt) {
    self.listener = listener
    self.ending = ending
  }

  deinit { unsafe piece.deallocate() }

  /// Calls `body` later, or at once if the time is not positive.
  func after(milliseconds: Int64, _ body: @escaping () -> Void) {
    guard milliseconds > 0 else { return body() }
    let instant = MonotonicClock.nanoseconds + UInt64(milliseconds) * 1_000_000
    let place = timers.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
    timers.insert(Timer(instant: instant, body: body), at: place)
  }

  /// Serves until ``ending`` is readable, then closes everything.
  ///
  /// - Parameter accepted: takes over a new connection and sets its ``Socket/owner``.
  func run(_ accepted: (Socket) -> Void) {
    while true {
      sockets.removeAll { !$0.isOpen }
      var polled = [pollfd(fd: ending, events: Int16(POLLIN), revents: 0)]
      polled.append(pollfd(fd: listener, events: isAccepting ? Int16(POLLIN) : 0, revents: 0))
      let served = sockets
      for socket in served { polled.append(pollfd(fd: socket.descriptor, events: socket.awaited, revents: 0)) }
      // If `poll` is interrupted, it reports nothing about any socket.
      if unsafe poll(&polled, nfds_t(polled.count), wait) < 0 { continue }
      if polled[0].revents != 0 { break }
      runTimers()
      for (socket, wait) in zip(served, polled.dropFirst(2)) where wait.revents != 0 {
        unsafe socket.serve(wait.revents, piece)
      }
      if polled[1].revents != 0 { accept(accepted) }
    }
    for socket in sockets { socket.close() }
    timers = []
    Glibc.close(listener)
  }

  /// The milliseconds until the next timer, rounded up; -1 for none.
  private var wait: CInt {
    guard let next = timers.first else { return -1 }
    let now = MonotonicClock.nanoseconds
    return next.instant <= now ? 0 : CInt(clamping: (next.instant - now + 999_999) / 1_000_000)
  }

  private func runTimers() {
    let now = MonotonicClock.nanoseconds
    while let first = timers.first, first.instant <= now {
      timers.removeFirst()
      first.body()
    }
  }

  private func accept(_ accepted: (Socket) -> Void) {
    while true {
      let descriptor = engage_accept(listener)
      guard descriptor >= 0 else {
        if errno == ECONNABORTED || errno == EINTR { continue }
        if errno != EAGAIN {
          // No descriptor or memory is left; the connection waits until others are closed.
          isAccepting = false
          after(milliseconds: 20) { self.isAccepting = true }
        }
        return
      }
      let socket = Socket(descriptor)
      sockets.append(socket)
      accepted(socket)
    }
  }
}
