package import BatchFoundation

/// A window that moves with the time of the run (reference formats 1.3).
package struct RelativeWindow: Sendable, Hashable {
  /// One end of it.
  struct Bound: Sendable, Hashable {
    enum Anchor: Sendable, Hashable {
      case instant(Instant)
      /// The begin of a day of the calendar, of which this is the first instant in UTC.
      case date(Instant)
      /// The time of the run.
      case now
      /// The begin of the run's day, so many days later.
      case day(Int)
    }

    /// As it was written.
    let text: String
    let anchor: Anchor
    var span: CalendarSpan?

    /// Whether it moves with the run.
    var isRelative: Bool {
      switch anchor {
      case .instant, .date: false
      case .now, .day: true
      }
    }

    private static let words: [(word: String, anchor: Anchor)] = [
      ("now", .now), ("today", .day(0)), ("yesterday", .day(-1)), ("tomorrow", .day(1)),
    ]

    /// Nil for what is none of an RFC 3339 time, a date, a word, a word with a signed duration, and a signed duration.
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

    /// Nil outside the years 1970 to 9999.
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

  /// What one end of a window means at a time, by the calendar of UTC. Nil for what is none.
  package static func instant(_ text: String, at now: Instant) -> Instant? {
    Bound(text)?.instant(at: now, in: .utc)
  }

  /// Without what the command line says of either end; nil where nothing moves any more.
  func replacing(from: Instant?, to: Instant?) -> RelativeWindow? {
    var window = self
    if let from { window.from = Bound(from.rfc3339) }
    if let to { window.to = Bound(to.rfc3339) }
    return window.from?.isRelative ?? false || window.to?.isRelative ?? false ? window : nil
  }

  /// As a person reads it, such as `yesterday to today, Europe/London`.
  package var text: String { "\(from?.text ?? "open") to \(to?.text ?? "open"), \(zone.name)" }

  /// What it means for a run at that time. Nil where an end is outside the years 1970 to 9999, or the window ends before it begins.
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

/// The time zone database of the machine: a folder with a file for each zone.
package struct ZoneDatabase: Sendable {
  /// Why there is no such zone.
  package enum Failure: Error, Equatable {
    case unknown
    /// There is a file of this name, but not of the form of RFC 9636.
    case damaged
    /// There is no database at all.
    case missing
  }

  let folder: String

  /// - Parameter environment: `TZDIR` names another folder, as for every program of the machine.
  package init(environment: [String: String]) { folder = environment["TZDIR"] ?? "/usr/share/zoneinfo" }

  /// - Parameter name: such as `Europe/London`; `UTC` is known without a database.
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

  /// No dot, so that nothing outside the folder has a name.
  private static func isName(_ part: Substring) -> Bool {
    !part.isEmpty
      && part.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || "_+-".utf8.contains(byte)
      }
  }
}
