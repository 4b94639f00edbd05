package import BatchFoundation
import Glibc

/// The sandbox's clock. It moves only through ``advance(by:)`` and when jobs are polled, so dates are reproducible.
package struct SandboxClock: Sendable {
  /// 2026-01-31T10:00:00Z
  package static let defaultStart = Instant(milliseconds: 1_769_853_600_000)

  package var now: Instant

  package init(now: Instant = defaultStart) { self.now = now }

  mutating func advance(by span: Milliseconds) { now = Instant(milliseconds: now.milliseconds + span.count) }
}

/// The clock that all platforms of a sandbox share.
package typealias SandboxTime = Guarded<SandboxClock>

extension SandboxTime {
  package var now: Instant { withLock { $0.now } }
}

/// A clock that never moves backward, for measuring the duration of requests.
enum MonotonicClock {
  static var nanoseconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// The formats in which the sandbox itself writes a date and time in UTC.
extension CivilTime {
  package init(_ instant: Instant) { self.init(milliseconds: instant.milliseconds) }

  /// 0 is Sunday; 1 January 1970 was a Thursday.
  private var weekday: Int {
    let days = (milliseconds - Int64((hour * 60 + minute) * 60 + second) * 1000) / 86_400_000
    return Int(((days + 4) % 7 + 7) % 7)
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// `Sat, 31 Jan 2026 10:00:00 GMT`, as in HTTP headers.
  var headerForm: String {
    "\(Self.weekdays[weekday]), \(twoDigits(day)) \(Self.months[month - 1]) \(year) "
      + "\(twoDigits(hour)):\(twoDigits(minute)):\(twoDigits(second)) GMT"
  }

  /// `2026-01-31T10:00:00Z`.
  package var isoForm: String {
    "\(year)-\(twoDigits(month))-\(twoDigits(day))T\(twoDigits(hour)):\(twoDigits(minute)):\(twoDigits(second))Z"
  }
}

package func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
