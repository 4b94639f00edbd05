package import BatchFoundation

/// How a calendar day and time in UTC is written in headers and answers of the sandbox itself.
extension CivilTime {
  package init(_ instant: Instant) { self.init(milliseconds: instant.milliseconds) }

  /// 0 is Sunday; 1 January 1970 was a Thursday.
  private var weekday: Int {
    let days = (milliseconds - Int64((hour * 60 + minute) * 60 + second) * 1000) / 86_400_000
    return Int(((days + 4) % 7 + 7) % 7)
  }

  package static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
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
