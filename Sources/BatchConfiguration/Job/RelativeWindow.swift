package import BatchFoundation

/// A window that moves with the time of the run (reference formats 1.3).
package struct RelativeWindow: Sendable, Hashable {
  struct Bound: Sendable, Hashable {
    enum Anchor: Sendable, Hashable {
      case instant(Instant)
      /// The start of a calendar day, stored as the start of that day in UTC.
      case date(Instant)
      case now
      /// The start of the run's day, moved by a number of days.
      case day(Int)
    }

    /// The bound as written.
    let text: String
    let anchor: Anchor
    var span: CalendarSpan?

    /// Whether the bound moves with the time of the run.
    var isRelative: Bool {
      switch anchor {
      case .instant, .date: false
      case .now, .day: true
      }
    }

    private static let words: [(word: String, anchor: Anchor)] = [
      ("now", .now), ("today", .day(0)), ("yesterday", .day(-1)), ("tomorrow", .day(1)),
    ]

    /// Returns nil unless the string is an RFC 3339 time, a date, a word, a word with a signed duration, or a signed
    /// duration.
    init?(_ text: String) {
      self.text = text
      if let instant = Instant.parse(rfc3339: text) {
        anchor = .instant(instant)
        return
      }
      if let date = Instant.parse(rfc3339: "\(text)T00:00:00Z") {
        anchor = .date(date)
        return
      }
      let known = Self.words.first { text.hasPrefix($0.word) }
      anchor = known?.anchor ?? .now
      let rest = text.dropFirst(known?.word.count ?? 0)
      if known != nil, rest.isEmpty { return }
      guard let span = CalendarSpan(rest) else { return nil }
      self.span = span
    }

    /// Returns the instant of the bound for a run at `now`; nil outside the years 1970 to 9999.
    func instant(at now: Instant, in zone: Zone) -> Instant? {
      let start =
        switch anchor {
        case .instant(let instant): instant
        case .date(let date): zone.instant(CivilTime(milliseconds: date.milliseconds))
        case .now: now
        case .day(let days): zone.startOfDay(now, plus: days)
        }
      return span.map { zone.instant(start, plus: $0) } ?? start
    }
  }

  var from: Bound?
  var to: Bound?
  package var zone: Zone

  /// Returns the instant of one end of a window according to the UTC calendar; nil for an invalid string.
  package static func instant(_ text: String, at now: Instant) -> Instant? {
    Bound(text)?.instant(at: now, in: .utc)
  }

  /// Returns the window with its ends replaced by those from the command line; nil if no relative end is left.
  func replacing(from: Instant?, to: Instant?) -> RelativeWindow? {
    var window = self
    if let from { window.from = Bound(from.rfc3339) }
    if let to { window.to = Bound(to.rfc3339) }
    return window.from?.isRelative ?? false || window.to?.isRelative ?? false ? window : nil
  }

  /// The window for display, such as `yesterday to today, Europe/London`.
  package var text: String { "\(from?.text ?? "open") to \(to?.text ?? "open"), \(zone.name)" }

  /// Returns the window of a run at the given time; nil if it is empty or has an end outside the years 1970 to 9999.
  package func window(at now: Instant) -> TimeWindow? {
    var window = TimeWindow()
    if let from {
      guard let instant = from.instant(at: now, in: zone) else { return nil }
      window.from = instant
    }
    if let to {
      guard let instant = to.instant(at: now, in: zone) else { return nil }
      window.to = instant
    }
    if let from = window.from, let to = window.to, to <= from { return nil }
    return window
  }
}

/// The machine's time zone database: a folder with one file per zone.
package struct ZoneDatabase: Sendable {
  /// The reason why a zone cannot be read.
  package enum Failure: Error, Equatable {
    case unknown
    /// The zone's file violates RFC 9636.
    case damaged
    /// There is no database at all.
    case missing
  }

  let folder: String

  /// - Parameter environment: `TZDIR` names a different folder, as for other programs on the machine.
  package init(environment: [String: String]) { folder = environment["TZDIR"] ?? "/usr/share/zoneinfo" }

  /// - Parameter name: such as `Europe/London`; `UTC` works without a database.
  /// - Throws: ``Failure`` if the zone is unknown or damaged, or if there is no database.
  package func zone(_ name: String) throws(Failure) -> Zone {
    if name == "UTC" { return .utc }
    guard name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({ Self.isName($0) }) else {
      throw .unknown
    }
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.read("\(folder)/\(name)", largest: 1 << 20)
    } catch {
      throw FileContents.isReadable(folder) ? .unknown : .missing
    }
    guard let zone = Zone(name: name, tzif: bytes) else {
      throw bytes.starts(with: "TZif".utf8) ? .damaged : .unknown
    }
    return zone
  }

  /// Returns whether one part of a zone name is valid. It has no dots, so that no name leads out of the folder.
  private static func isName(_ part: Substring) -> Bool {
    !part.isEmpty && part.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_+-".utf8.contains($0) }
  }
}
