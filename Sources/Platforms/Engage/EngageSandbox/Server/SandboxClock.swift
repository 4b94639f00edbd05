package import BatchFoundation
import Glibc

/// The time the sandbox believes in.
///
/// A virtual clock stands still but for ``advance(by:)`` and polls of jobs, so the same requests give the same dates.
package struct SandboxClock: Sendable {
  /// 2026-01-31T10:00:00Z, where a virtual clock starts unless told otherwise.
  package static let defaultStart = Instant(milliseconds: 1_769_853_600_000)

  private var base: Int64
  private let followsSystem: Bool

  package static func virtual(from start: Instant = defaultStart) -> SandboxClock {
    SandboxClock(base: start.milliseconds, followsSystem: false)
  }

  /// The machine's clock, plus whatever it was advanced by.
  package static var system: SandboxClock { SandboxClock(base: 0, followsSystem: true) }

  private init(base: Int64, followsSystem: Bool) {
    self.base = base
    self.followsSystem = followsSystem
  }

  package var now: Instant {
    guard followsSystem else { return Instant(milliseconds: base) }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: base + Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  package mutating func advance(by span: Milliseconds) { base += span.count }

  /// What a restored state needs so that its tokens and jobs are as old as they were; nothing for a system clock.
  var virtualNow: Int64? { followsSystem ? nil : base }

  mutating func restore(_ milliseconds: Int64) { if !followsSystem { base = milliseconds } }
}

/// The ways the service writes a calendar day and time in UTC (specification section 2.4).
extension CivilTime {
  init(_ instant: Instant) { self.init(milliseconds: instant.milliseconds) }

  /// 0 is Sunday; 1 January 1970 was a Thursday.
  private var weekday: Int {
    let days = (milliseconds - Int64((hour * 60 + minute) * 60 + second) * 1000) / 86_400_000
    return Int(((days + 4) % 7 + 7) % 7)
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  private var twelveHour: Int { hour % 12 == 0 ? 12 : hour % 12 }
  private var halfOfDay: String { hour < 12 ? "AM" : "PM" }

  /// `6/25/26 3:29 PM`, as in SelectRecipientData.
  var recipientForm: String {
    "\(month)/\(day)/\(twoDigits(year % 100)) \(twelveHour):\(twoDigits(minute)) \(halfOfDay)"
  }

  /// `06/25/26 03:29 PM`, as in GetListMetaData.
  var listForm: String {
    "\(twoDigits(month))/\(twoDigits(day))/\(twoDigits(year % 100)) "
      + "\(twoDigits(twelveHour)):\(twoDigits(minute)) \(halfOfDay)"
  }

  /// `Jan 31 2026 11-59-59 PM`, as in the names of exported files.
  var fileForm: String {
    "\(Self.months[month - 1]) \(day) \(year) \(twoDigits(twelveHour))-\(twoDigits(minute))-\(twoDigits(second)) \(halfOfDay)"
  }

  /// `Sat, 31 Jan 2026 10:00:00 GMT`, as in HTTP headers.
  var headerForm: String {
    "\(Self.weekdays[weekday]), \(twoDigits(day)) \(Self.months[month - 1]) \(year) "
      + "\(twoDigits(hour)):\(twoDigits(minute)):\(twoDigits(second)) GMT"
  }

  /// `2026-01-31T10:00:00Z`.
  var isoForm: String {
    "\(year)-\(twoDigits(month))-\(twoDigits(day))T\(twoDigits(hour)):\(twoDigits(minute)):\(twoDigits(second))Z"
  }
}

private func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

/// Whether a date column takes the text: `MM/dd/yyyy`, with `HH:mm:ss` or `hh:mm:ss a` behind it, a zone only if `zone` allows.
func isServiceDate(_ text: String, zone: Bool) -> Bool {
  var parts = text.split(separator: " ", omittingEmptySubsequences: false).map { Array($0.utf8) }
  guard let day = parts.first, fits(day, "dd/dd/dddd") || fits(day, "dddd-dd-dd") else { return false }
  let numbers = String(decoding: day, as: UTF8.self).split { $0 == "/" || $0 == "-" }.compactMap { Int($0) }
  let (year, month, date) =
    day[2] == UInt8(ascii: "/") ? (numbers[2], numbers[0], numbers[1]) : (numbers[0], numbers[1], numbers[2])
  guard CivilTime(year: year, month: month, day: date) != nil else { return false }
  parts.removeFirst()
  if parts.isEmpty { return true }
  guard fits(parts[0], "dd:dd:dd") || fits(parts[0], "dd:dd") else { return false }
  let time = String(decoding: parts[0], as: UTF8.self).split(separator: ":").compactMap { Int($0) }
  guard time[0] < 24, time[1] < 60, time.count < 3 || time[2] < 60 else { return false }
  parts.removeFirst()
  if let half = parts.first, half.elementsEqual("AM".utf8) || half.elementsEqual("PM".utf8) { parts.removeFirst() }
  guard let suffix = parts.first else { return true }
  return zone && parts.count == 1 && (suffix.elementsEqual("GMT".utf8) || suffix.elementsEqual("UTC".utf8))
}

private func fits(_ bytes: [UInt8], _ pattern: String) -> Bool {
  bytes.count == pattern.utf8.count
    && zip(bytes, pattern.utf8).allSatisfy { byte, wanted in
      wanted == UInt8(ascii: "d") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
    }
}

/// Time that never goes back; for measuring how long requests are in flight.
enum MonotonicClock {
  static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
