import BatchConfiguration
import BatchFoundation
package import BatchReport
import BatchStore
import FoundationEssentials

/// The periods between windows that no run has read, split into pieces as long as the following window (reference
/// decisions 49).
struct MissedWindows: Sendable, Equatable {
  private(set) var pieces: [Range<Instant>] = []
  /// The end of the latest window that was read.
  private var end: Instant?
  /// The time zone in which windows of whole days are counted.
  private let zone: Zone

  /// The maximum number of pieces in one gap; the last piece covers the rest of the gap.
  private static let most = 1000

  init(in zone: Zone) { self.zone = zone }

  /// Notes the window of a run, and counts the time between the windows read so far and this window as
  /// missed.
  mutating func begin(_ window: TimeWindow) {
    guard let from = window.from, let end, end < from else { return }
    var gap: [Range<Instant>] = []
    var last = from
    while last > end, gap.count < Self.most {
      let begin = zone.instant(from, steps: -(gap.count + 1), of: window)
      let first = gap.count + 1 < Self.most && begin < last ? max(begin, end) : end
      gap.append(first..<last)
      last = first
    }
    pieces += gap.reversed()
    pieces.sort { $0.lowerBound < $1.lowerBound }
  }

  /// Notes that a run has read its window.
  ///
  /// - Parameter known: the known time of the run, which read nothing after it.
  mutating func read(_ window: TimeWindow, knownUntil known: Instant) {
    let to = min(window.to ?? known, known)
    let from = min(window.from ?? Instant(milliseconds: 0), to)
    pieces = pieces.flatMap { piece in
      [
        piece.lowerBound..<max(piece.lowerBound, min(piece.upperBound, from)),
        min(piece.upperBound, max(piece.lowerBound, to))..<piece.upperBound,
      ].filter { !$0.isEmpty }
    }
    end = end.map { max($0, to) } ?? to
  }

  /// Drops pieces before the reach of a run that has ended and therefore has reported them.
  mutating func drop(before reach: Instant) { pieces.removeAll { $0.upperBound <= reach } }
}

extension Zone {
  /// Returns the instant that is `steps` window lengths later. A length of whole days is counted in calendar days; a
  /// window without a bound counts as one day.
  fileprivate func instant(_ instant: Instant, steps: Int, of window: TimeWindow) -> Instant {
    let day: Int64 = 86_400_000
    var days: Int64 = 1
    if let from = window.from, let to = window.to {
      let length = civil(to).milliseconds - civil(from).milliseconds
      guard length > 0, length % day == 0 else {
        return Instant(milliseconds: instant.milliseconds + Int64(steps) * (to.milliseconds - from.milliseconds))
      }
      days = length / day
    }
    return CalendarSpan("+P1D").flatMap { self.instant(instant, plus: $0 * (steps * Int(days))) } ?? instant
  }
}

extension RelativeWindow {
  /// Returns the latest time at which a run would read a window that includes the piece; nil if there is none.
  ///
  /// - Parameters:
  ///   - asOf: the clock of the run whose window follows the piece.
  ///   - window: the window of that run.
  func asOf(reading piece: Range<Instant>, before asOf: Instant, _ window: TimeWindow) -> Instant? {
    var step = window
    // A window of several days moves day by day, so that no run whose window contains the whole piece is skipped.
    if let from = window.from, let to = window.to, to.milliseconds - from.milliseconds > 86_400_000 { step.to = nil }
    for number in 1...4000 {
      let time = zone.instant(asOf, steps: -number, of: step)
      guard let window = self.window(at: time), window.to ?? time >= piece.upperBound else { return nil }
      if window.from ?? piece.lowerBound <= piece.lowerBound { return time }
    }
    return nil
  }
}

extension Pipeline {
  /// Returns the windows of the job that no run has read; empty if the job does not report them.
  ///
  /// - Parameter run: the current run, if the store has it; it may or may not have read its window.
  func missedWindows(in store: EventStore, _ run: RunID?) throws -> [MissedWindow] {
    request.job.tellsMissed ? try allMissedWindows(in: store, run) : []
  }

  /// Returns the missed windows within the job's `catchUp`, oldest first; empty if a window was given, or in a dry run.
  ///
  /// - Throws: ``StoreError``, also if another run holds the store.
  package func windowsToCatchUp() throws -> [MissedWindow] {
    let (job, changes) = (request.job, request.loaded.changes)
    guard let span = job.catchUp, request.mode.keeps, request.mode.readsInputs, let from = job.window.from,
      changes.from == nil, changes.to == nil, FileManager.default.fileExists(atPath: request.storePath),
      let begin = (job.relativeWindow?.zone ?? .utc).instant(from, plus: span)
    else { return [] }
    let windows = try EventStore.change(request.storePath, format: platform.storeFormat) { store in
      try allMissedWindows(in: store, nil)
    }
    return windows.filter { $0.from >= begin && $0.to <= from }
  }

  /// Returns the missed windows in the store as it is now; empty if there is no store, or it cannot be read.
  package func missedNow() -> [MissedWindow] {
    guard request.mode.keeps else { return [] }
    do {
      return try EventStore.change(request.storePath, format: platform.storeFormat) { try missedWindows(in: $0, nil) }
    } catch {
      // The error has ended the run, or will end the next one.
      return []
    }
  }

  private func allMissedWindows(in store: EventStore, _ run: RunID?) throws -> [MissedWindow] {
    let relative = request.job.relativeWindow
    var missed = MissedWindows(in: relative?.zone ?? .utc)
    let reading = [RunMode.run.name, RunMode.noUpload.name, "collect"]
    var lastKnown: Instant?
    for stored in try store.runs.all() where stored.job == request.job.name && stored.id != run {
      // A rerun imports lines that no run had read, up to the known time.
      if stored.mode == "rerun", stored.exit == 0, let lastKnown {
        missed.read(stored.window, knownUntil: lastKnown)
      }
      guard let mode = stored.mode, reading.contains(mode), let known = stored.knownUntil else { continue }
      lastKnown = known
      missed.begin(stored.window)
      missed.read(stored.window, knownUntil: known)
      missed.drop(before: RunStorage.reach(of: known, request.settings) ?? known)
    }
    let window = request.job.window
    missed.begin(window)
    if let known = try store.runs.all().first(where: { $0.id == run })?.knownUntil {
      missed.read(window, knownUntil: known)
    }
    return missed.pieces.map { piece in
      MissedWindow(
        from: piece.lowerBound, to: piece.upperBound,
        asOf: relative?.asOf(reading: piece, before: request.asOf, window))
    }
  }
}
