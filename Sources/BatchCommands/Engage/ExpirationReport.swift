import BatchFoundation

/// The output of `engage-batch expiration` for a text.
struct ExpirationReport {
  private let text: String
  private let start: Instant
  private let strict: ExpirationText
  /// The readings of the SDKs, if requested.
  private let sdks: [SDKExpiration.Platform: SDKExpiration]

  init(_ text: String, from start: Instant, comparesSDKs: Bool) {
    let arena = Arena()
    let copy = arena.text(text)
    self.text = text
    self.start = start
    strict = ExpirationText.parse(copy)
    var sdks: [SDKExpiration.Platform: SDKExpiration] = [:]
    if comparesSDKs {
      for platform in SDKExpiration.Platform.allCases {
        sdks[platform] = SDKExpiration.read(copy, from: start, on: platform)
      }
    }
    self.sdks = sdks
    withExtendedLifetime(arena) {}
  }

  /// The expiry by the strict grammar; where that refuses the text and SDKs were requested, the one on iOS.
  var expiry: Instant? { strict.expiry(from: start) ?? sdks[.iOS]?.expiry }

  /// The kind of text: `duration`, `absolute` or `refused`.
  var kind: String {
    switch strict {
    case .duration: "duration"
    case .absolute: "absolute"
    case .refused: "refused"
    }
  }

  /// Notes for the reader, one line each.
  var notes: [String] {
    var notes: [String] = []
    switch strict {
    case .duration(let span): notes.append("note: a duration of \(span.wholeSeconds) s from \(start.rfc3339)")
    case .absolute: notes.append("note: a date in UTC")
    case .refused(let reason): notes.append("\(refusalSeverity): '\(text)' is not an expiration: \(reason.words)")
    }
    for platform in SDKExpiration.Platform.allCases {
      guard let reading = sdks[platform] else { continue }
      notes.append("note: \(platform.words) \(words(for: reading))")
    }
    return notes.map(\.printable)
  }

  private var refusalSeverity: String { sdks.isEmpty ? "error" : "warning" }

  private func words(for reading: SDKExpiration) -> String {
    let expiry = reading.expiry.map(\.rfc3339) ?? "no date that can be written"
    switch reading.kind {
    case .duration: return "read a duration of \(reading.seconds) s: \(expiry)"
    case .absolute: return "read a date: \(expiry)"
    case .none: return "recognised nothing, so it expired at once: \(expiry)"
    case .exception: return "raised an exception"
    }
  }

  var json: JSONNode {
    let head: JSONNode = [
      "text": .text(text), "from": .text(start.rfc3339), "kind": .text(kind), "expires": .text(expiry?.rfc3339),
    ]
    let (span, refusal): (Milliseconds?, ExpirationText.Refusal?) =
      switch strict {
      case .duration(let span): (span, nil)
      case .absolute: (nil, nil)
      case .refused(let reason): (nil, reason)
      }
    func reading(_ platform: SDKExpiration.Platform) -> JSONNode? {
      sdks[platform].map {
        ["kind": .text($0.kind.rawValue), "expires": .text($0.expiry?.rfc3339), "seconds": .number($0.seconds)]
      }
    }
    return head.adding([
      "seconds": span.map { .number($0.wholeSeconds) },
      "warnings": .array(refusal.map { [["code": .text($0.rawValue), "message": .text($0.words)]] } ?? []),
      SDKExpiration.Platform.iOS.rawValue: reading(.iOS), SDKExpiration.Platform.android.rawValue: reading(.android),
    ])
  }
}

extension SDKExpiration.Platform {
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
    case .unexpectedText: "it has text where a number with a unit or a date 'YYYY/MM/DD HH:MM:SS' should be"
    case .unknownUnit: "it has a unit other than days, hours, minutes and seconds"
    case .repeatedUnit: "it has the same unit twice"
    case .invalidDate: "the calendar has no such date"
    case .outOfRange: "it is longer than 36525 days"
    }
  }
}
