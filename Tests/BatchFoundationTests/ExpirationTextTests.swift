import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

@Suite struct ExpirationTextTests {
  @Test(arguments: [
    ("1 day 7 hours 23 minutes 15 seconds", 112_995),
    ("1day7hours23minutes15seconds", 112_995),
    ("1d 7h 23m 15s", 112_995),
    ("15m1d0seconds", 87_300),
    ("\t4 HRS\n", 14_400),
    ("0s", 0),
    ("36525 d", 3_155_760_000),
    ("3155760000 secs", 3_155_760_000),
    ("00000000000000000000000015s", 15),
  ])
  func readsDurations(text: String, seconds: Int64) {
    #expect(parse(text) == .duration(Milliseconds(seconds * 1000)))
  }

  @Test(arguments: [
    ("2014/12/25 11:12:13", 1_419_505_933),
    (" 2014/12/25 11:12:13 ", 1_419_505_933),
    ("2014/12/25 11:12:13Z", 1_419_505_933),
    ("2014/12/25 11:12:13 UTC", 1_419_505_933),
    ("2014/12/25 11:12:13GMT\r\n", 1_419_505_933),
    ("1970/01/01 00:00:00", 0),
    ("2000/02/29 00:00:00", 951_782_400),
    ("2024/02/29 23:59:59", 1_709_251_199),
    ("9999/12/31 23:59:59", 253_402_300_799),
    ("1969/12/31 23:59:59", -1),
    ("0001/01/01 00:00:00", -62_135_596_800),
  ])
  func readsDates(text: String, seconds: Int64) {
    #expect(parse(text) == .absolute(Instant(milliseconds: seconds * 1000)))
  }

  @Test(arguments: [
    ("", ExpirationText.Refusal.empty),
    ("0000/01/01 00:00:00", .invalidDate), ("0000/12/31 23:59:59 GMT", .invalidDate),
    (" \t", .empty),
    ("15", .unexpectedText),
    ("-5 m", .unexpectedText),
    ("1.5 h", .unexpectedText),
    ("1 day, 2 h", .unexpectedText),
    ("\u{661} day", .unexpectedText),
    ("1\u{A0}day", .unexpectedText),
    ("2014/12/25 11:12:13  GMT", .unexpectedText),
    ("2014/12/25 11:12:13 gmt", .unexpectedText),
    ("2014/12/25 11:12:13 \tZ", .unexpectedText),
    ("2014/12/25\t11:12:13", .unexpectedText),
    ("2014/12/25", .unexpectedText),
    ("1 month", .unknownUnit),
    ("12 ms", .unknownUnit),
    ("1 dayhour", .unknownUnit),
    ("1 d 1 day", .repeatedUnit),
    ("2100/02/29 00:00:00", .invalidDate),
    ("2014/00/10 00:00:00", .invalidDate),
    ("2014/01/00 00:00:00", .invalidDate),
    ("2014/01/01 24:00:00", .invalidDate),
    ("2014/06/30 23:59:60", .invalidDate),
    ("36525 d 1 s", .outOfRange),
    ("876601 h", .outOfRange),
    ("99999999999999999999999999999999 d", .outOfRange),
  ])
  func refusesWithTheReason(text: String, reason: ExpirationText.Refusal) {
    #expect(parse(text) == .refused(reason))
  }

  @Test func anExpiryIsNeverLaterThanTheLastInstant() {
    #expect(parse("36525 d").expiry(from: .last) == .last)
    #expect(parse("1s").expiry(from: Instant(milliseconds: 7)) == Instant(milliseconds: 1007))
    #expect(parse("1970/01/01 00:00:01").expiry(from: .last) == Instant(milliseconds: 1000))
    #expect(parse("soon").expiry(from: .last) == nil)
  }

  @Test(arguments: try ExpirationVector.all())
  func readsTheRecordedTexts(vector: ExpirationVector) {
    guard let text = vector.input else {
      #expect(vector.strictOK == false)
      return
    }
    switch parse(text) {
    case .refused(let reason):
      #expect(!vector.strictOK)
      #expect(reason.rawValue == vector.strictReason)
    case let accepted:
      #expect(vector.strictOK)
      #expect(accepted.expiry(from: vector.reference) == vector.compat.expiry)
    }
  }

  @Test(arguments: try ExpirationVector.all())
  func readsTheRecordedTextsAsTheSDKsDid(vector: ExpirationVector) {
    guard let input = vector.input else { return }
    let arena = Arena()
    let text = arena.text(input)
    let iOS = LegacySDKExpiration.read(text, from: vector.reference, on: .iOS)
    #expect(iOS.expiry == vector.iOS.expiry)
    #expect(iOS.seconds == vector.iOS.seconds)
    #expect(iOS.expiry == vector.compat.expiry)
    #expect(iOS.seconds == vector.compat.seconds)
    #expect(iOS.kind.rawValue == vector.compat.kind)

    let android = LegacySDKExpiration.read(text, from: vector.reference, on: .android)
    #expect((android.kind == .exception) == (vector.android.throws != nil))
    #expect(android.expiry == vector.android.expiry)
    if vector.android.throws == nil { #expect(android.seconds == vector.android.seconds) }
  }

  @Test func readsAnyBytesWithoutFailing() {
    var generator = SplitMix64(seed: 16)
    let alphabet = Array("0123456789/:  dhmsDAYSzZ|\tGMT-.".utf8) + [0x00, 0x80, 0xC3, 0xFF]
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
        alphabet.randomElement(using: &generator) ?? 0
      }
      if Bool.random(using: &generator) { bytes += Array("2014/12/25 11:12:13".utf8) }
      bytes.withUnsafeBufferPointer { buffer in
        let first = ExpirationText.parse(buffer)
        #expect(first == ExpirationText.parse(buffer))
        guard let base = buffer.baseAddress else { return }
        let text = Text(base: base, count: buffer.count)
        for platform in LegacySDKExpiration.PhoneOS.allCases {
          let read = LegacySDKExpiration.read(text, from: .last, on: platform)
          #expect(read == LegacySDKExpiration.read(text, from: .last, on: platform))
        }
        if case .duration(let span) = first {
          let compat = LegacySDKExpiration.read(text, from: Instant(milliseconds: 0), on: .iOS)
          #expect(compat.seconds == span.wholeSeconds)
        }
      }
    }
  }
}

private func parse(_ text: String) -> ExpirationText {
  Array(text.utf8).withUnsafeBufferPointer { ExpirationText.parse($0) }
}

/// One case of `expiration_parser` in the shared vectors.
struct ExpirationVector: Decodable, Sendable, CustomTestStringConvertible {
  struct Outcome: Decodable, Sendable {
    var expires: String?
    var seconds: Int64?
    var kind: String?
    var `throws`: String?

    var expiry: Instant? { expires.flatMap(instant) }
  }

  var id: String
  var input: String?
  var from: String?
  var strictOK: Bool
  var strictReason: String?
  var iOS: Outcome
  var android: Outcome
  var compat: Outcome

  enum CodingKeys: String, CodingKey {
    case id, input, from, android, compat
    case strictOK = "strict_ok"
    case strictReason = "strict_reason"
    case iOS = "ios"
  }

  var reference: Instant { from.flatMap(instant) ?? Instant(milliseconds: 0) }

  var testDescription: String { id }

  static func all() throws -> [ExpirationVector] {
    struct File: Decodable {
      struct Section: Decodable { var vectors: [ExpirationVector] }
      var expiration_parser: Section
    }
    let file = try JSONDecoder().decode(File.self, from: Vectors.data("engage-events"))
    return try Vectors.wanted(file.expiration_parser.vectors, "expiration_parser.vectors")
  }
}

/// `2014-01-02T07:23:15.000Z` as the vectors write it.
private func instant(_ text: String) -> Instant? {
  // A text that is not a date reads as none, and the comparison with it fails.
  guard let date = try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
  else {
    return nil
  }
  return Instant(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
}
