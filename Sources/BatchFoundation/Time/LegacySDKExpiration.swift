/// The expiration that the 2014 SDKs read from a string (reference events 4.1 and 4.2), for comparison with
/// ``ExpirationText``.
///
/// The SDKs search the whole string for terms and take a word's first letter as the unit, so `1 month` is a minute. If
/// there is no term, they search for a date; if there is no date either, the expiration is immediate. For iOS, seconds
/// are exact, regardless of the device's daylight saving time. Only ASCII digits and white space are recognized.
public struct LegacySDKExpiration: Hashable, Sendable {
  public enum PhoneOS: String, Sendable, CaseIterable {
    case iOS = "ios"
    case android
  }

  public enum Kind: String, Sendable {
    case duration, absolute
    /// Nothing was recognized; the expiry is the reference time.
    case none
    /// The SDK raises an exception, as Android does for a number above 2147483647.
    case exception
  }

  public var kind: Kind
  /// The sum of the terms; 0 for a date. On Android it is a 32-bit number, which overflows from 24,856 days on.
  public var seconds: Int64
  /// Nil after an exception, or if the expiry would be before 1970 or after ``Instant/last``.
  public var expiry: Instant?

  public static func read(
    _ text: Text, from reference: Instant, on os: PhoneOS
  ) -> LegacySDKExpiration {
    let scan = unsafe TermScan(text.bytes)
    if os == .android, scan.overflowsInt32 { return Self(kind: .exception, seconds: 0, expiry: nil) }
    if scan.matched {
      let amounts = os == .iOS ? scan.anyCase : scan.lowerCase
      let exact = amounts.total
      let seconds = os == .iOS ? exact : Int64(Int32(truncatingIfNeeded: exact))
      return Self(
        kind: amounts.isEmpty ? .none : .duration, seconds: seconds, expiry: reference.adding(seconds: exact))
    }
    guard let date = unsafe lastDate(text.bytes, on: os) else {
      return Self(kind: .none, seconds: 0, expiry: reference)
    }
    return Self(kind: .absolute, seconds: 0, expiry: Instant(milliseconds: 0).adding(seconds: date.seconds))
  }

  /// Returns the last date in the string; nil if there is none or the SDK could not parse it.
  private static func lastDate(_ bytes: UnsafeBufferPointer<UInt8>, on os: PhoneOS) -> ExpirationDate? {
    var found: Int?
    var position = 0
    while position + ExpirationDate.length <= bytes.count {
      if unsafe ExpirationDate.hasShape(bytes, at: position, end: bytes.count, separator: \.isASCIIWhitespace) {
        found = position
        position += ExpirationDate.length
      } else {
        position += 1
      }
    }
    guard let found else { return nil }
    let date = unsafe ExpirationDate(bytes, at: found)
    switch os {
    case .iOS: return date.isValid ? date : nil
    case .android: return unsafe bytes[found + 10] == 0x20 ? date : nil
    }
  }
}

extension [ExpirationUnit: Int64] {
  /// The sum in seconds, capped at the largest number.
  fileprivate var total: Int64 {
    reduce(into: 0) { sum, term in
      let (product, tooLarge) = term.value.multipliedReportingOverflow(by: term.key.seconds)
      let (next, overflow) = sum.addingReportingOverflow(tooLarge ? .max : product)
      sum = overflow ? .max : next
    }
  }
}

/// A search for terms anywhere in a string: digits, optional white space, and a unit's letter. A `|` instead of the
/// letter, which the SDKs' expression accepts by mistake, counts as a match without a value.
private struct TermScan {
  var matched = false
  var overflowsInt32 = false
  /// The amounts by unit; a repeated unit replaces the earlier amount.
  var anyCase: [ExpirationUnit: Int64] = [:]
  /// Those whose unit is in lower case.
  var lowerCase: [ExpirationUnit: Int64] = [:]

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    var position = 0
    while position < bytes.count {
      guard unsafe bytes[position].isASCIIDigit else {
        position += 1
        continue
      }
      var amount: Int64 = 0
      while position < bytes.count, unsafe bytes[position].isASCIIDigit {
        let digit = unsafe Int64(bytes[position] - 0x30)
        amount = amount > (Int64.max - digit) / 10 ? .max : amount * 10 + digit
        position += 1
      }
      while position < bytes.count, unsafe bytes[position].isASCIIWhitespace { position += 1 }
      guard position < bytes.count else { break }
      let letter = unsafe bytes[position]
      if letter == 0x7C { matched = true }
      guard letter.isASCIILetter, let unit = ExpirationUnit(firstLetter: letter | 0x20) else { continue }
      matched = true
      position += 1
      anyCase[unit] = amount
      if letter >= 0x61 {
        lowerCase[unit] = amount
        overflowsInt32 = overflowsInt32 || amount > Int64(Int32.max)
      }
    }
  }
}

extension Instant {
  /// Returns nil if the sum is before 1970 or after ``last``.
  fileprivate func adding(seconds: Int64) -> Instant? {
    let (span, tooLarge) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, overflow) = milliseconds.addingReportingOverflow(span)
    return tooLarge || overflow ? nil : Instant(checking: sum)
  }
}
