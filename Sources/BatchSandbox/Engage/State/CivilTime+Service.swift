import BatchFoundation

/// The service's forms of a calendar day and time in UTC (specification section 2.4).
extension CivilTime {
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
}

/// Returns whether a date column accepts the text: `MM/dd/yyyy` or `yyyy-MM-dd`, optionally followed by `HH:mm` or
/// `HH:mm:ss`, `AM` or `PM`, and, if `zone` allows it, `GMT` or `UTC`.
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

/// Returns whether the text matches the pattern, with a digit in the place of each `d`.
func fits(_ bytes: [UInt8], _ pattern: String) -> Bool {
  bytes.count == pattern.utf8.count
    && zip(bytes, pattern.utf8).allSatisfy { byte, wanted in
      wanted == UInt8(ascii: "d") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
    }
}
