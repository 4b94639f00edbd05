/// The date form of HTTP headers (RFC 9110, 5.6.7), in seconds since 1970.
package enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete forms and impossible dates are nil; the day's name is not checked.
  package static func parse(_ text: String) -> Int64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 6, parts[0].utf8.count == 4, parts[0].utf8.last == UInt8(ascii: ","), parts[5] == "GMT",
      let day = digits(parts[1], 2), let month = months.firstIndex(of: parts[2]), let year = digits(parts[3], 4)
    else { return nil }
    let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { digits(String($0), 2) }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24, minute < 60,
      second <= 60, year >= 1970, day >= 1, day <= length(of: month, year: year)
    else { return nil }
    let days = dayNumber(year: year, month: month + 1, day: day)
    return Int64(days * 86_400 + hour * 3600 + minute * 60 + min(second, 59))
  }

  /// Days since 1970 in the Gregorian calendar.
  private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func length(of month: Int, year: Int) -> Int {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
  }

  private static func digits(_ text: String, _ count: Int) -> Int? {
    guard text.utf8.count == count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
