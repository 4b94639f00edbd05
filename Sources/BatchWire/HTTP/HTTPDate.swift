import BatchFoundation

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
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2], second <= 60,
      year >= 1970,
      // A leap second is the one before it.
      let time = CivilTime(
        year: year, month: month + 1, day: day, hour: hour, minute: minute, second: min(second, 59))
    else { return nil }
    return time.milliseconds / 1000
  }

  private static func digits(_ text: String, _ count: Int) -> Int? {
    guard text.utf8.count == count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
