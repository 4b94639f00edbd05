import ArgumentParser
import BatchFoundation
import BatchReport

struct ExpirationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expiration",
    abstract: "Print when an expiration text such as '1 day 15m' or '2014/12/25 11:12:13' expires.",
    discussion: """
      The expiry is printed on stdout in RFC 3339 format, the interpretation on stderr. For a text that is not an expiration, \
      nothing is printed on stdout and the exit code is 65; with --compat, the expiry on iOS is printed if there is one, and \
      the exit code is then 0.
      """)

  @Argument(help: "The expiration, as written in a campaign or a configuration.")
  var text: String

  @Option(
    name: .customLong("from"), help: "The time at which a duration starts. (default: now)", transform: Instant.argument)
  var start: Instant?

  @Flag(help: "Also show how the SDKs of 2014 interpret the text.")
  var compat = false

  @OptionGroup var answer: AnswerOption

  func run() throws {
    let report = ExpirationReport(text, from: start ?? .now, comparesSDKs: compat)
    answer.format.show(report.facts)
    if report.expiry == nil { throw ExitCode(.inputRefused) }
  }
}

struct ExpirationReport {
  private let text: String
  private let start: Instant
  private let strict: ExpirationText
  /// The SDKs' interpretations of the string; empty unless requested.
  private let sdks: [LegacySDKExpiration.PhoneOS: LegacySDKExpiration]

  init(_ text: String, from start: Instant, comparesSDKs: Bool) {
    let arena = Arena()
    let copy = arena.text(text)
    self.text = text
    self.start = start
    strict = ExpirationText.parse(copy)
    var sdks: [LegacySDKExpiration.PhoneOS: LegacySDKExpiration] = [:]
    if comparesSDKs {
      for os in LegacySDKExpiration.PhoneOS.allCases {
        sdks[os] = LegacySDKExpiration.read(copy, from: start, on: os)
      }
    }
    self.sdks = sdks
    withExtendedLifetime(arena) {}
  }

  /// The expiry by the strict grammar. If that rejects the string and SDKs were requested, the expiry on iOS.
  var expiry: Instant? { strict.expiry(from: start) ?? sdks[.iOS]?.expiry }

  var facts: Facts {
    let (kind, span, note, refusal): (String, Milliseconds?, String, ExpirationText.Refusal?) =
      switch strict {
      case .duration(let span):
        ("duration", span, "note: a duration of \(span.wholeSeconds) s from \(start.rfc3339)", nil)
      case .absolute: ("absolute", nil, "note: a date in UTC", nil)
      case .refused(let reason):
        (
          "refused", nil, "\(sdks.isEmpty ? "error" : "warning"): '\(text)' is not an expiration: \(reason.words)",
          reason
        )
      }
    var facts: Facts = ["text": .text(text), "from": .text(start.rfc3339), "kind": .text(kind)]
    facts.note(note)
    for os in LegacySDKExpiration.PhoneOS.allCases {
      if let reading = sdks[os] { facts.note("note: \(os.words) \(words(for: reading))") }
    }
    facts.add("expires", .text(expiry?.rfc3339), expiry.map { [$0.rfc3339] } ?? [])
    facts.add("seconds", span.map { .number($0.wholeSeconds) })
    facts.add("warnings", .array(refusal.map { [["code": .text($0.rawValue), "message": .text($0.words)]] } ?? []))
    for os in LegacySDKExpiration.PhoneOS.allCases {
      facts.add(
        os.rawValue,
        sdks[os].map {
          ["kind": .text($0.kind.rawValue), "expires": .text($0.expiry?.rfc3339), "seconds": .number($0.seconds)]
        })
    }
    return facts
  }

  private func words(for reading: LegacySDKExpiration) -> String {
    let expiry = reading.expiry.map(\.rfc3339) ?? "out of range"
    switch reading.kind {
    case .duration: return "read a duration of \(reading.seconds) s: \(expiry)"
    case .absolute: return "read a date: \(expiry)"
    case .none: return "recognized nothing, so the text expired immediately: \(expiry)"
    case .exception: return "raised an exception"
    }
  }
}

extension LegacySDKExpiration.PhoneOS {
  fileprivate var words: String {
    switch self {
    case .iOS: "iOS"
    case .android: "Android"
    }
  }
}

extension ExpirationText.Refusal {
  fileprivate var words: String {
    switch self {
    case .empty: "it is empty"
    case .unexpectedText: "it contains text other than numbers with units or a date 'YYYY/MM/DD HH:MM:SS'"
    case .unknownUnit: "it has a unit other than days, hours, minutes and seconds"
    case .repeatedUnit: "it has the same unit twice"
    case .invalidDate: "the calendar has no such date"
    case .outOfRange: "it is longer than 36525 days"
    }
  }
}
