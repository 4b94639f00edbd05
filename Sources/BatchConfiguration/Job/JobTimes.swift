import BatchFoundation

/// What a job file says that has no meaning before the time of the run is known.
struct JobTimes {
  /// An input with date patterns.
  struct Input {
    /// `events`, `notifications` or `deepLinks`.
    var kind: WritableKeyPath<Job.Inputs, [JobInput]>
    /// Its place among them.
    var place: Int
    /// `inputs.events[0]`.
    var key: String
    var line: Int?
    var path: DatedPath
  }

  /// More days than this in a window of date patterns are a slip of the hand.
  static let mostDays = 4000

  /// Where `window` stands.
  var windowLine: Int?
  var zone = Zone.utc
  var inputs: [Input] = []

  /// Puts what it means for this run into the job, whose `asOf` and paths are known.
  ///
  /// - Parameters:
  ///   - now: the clock of a job that does not say it.
  ///   - changes: ends of the window that win over the job's.
  /// - Returns: what is wrong, in the file `source`.
  func settle(_ job: inout Job, _ changes: CommandLineChanges, now: Instant, source: String) -> [ConfigurationFault] {
    var faults: [ConfigurationFault] = []
    let time = job.asOf ?? now
    if let relative = job.relativeWindow {
      if let window = relative.window(at: time) {
        job.window = window
      } else {
        faults.append(
          ConfigurationFault(
            Place(source, line: windowLine),
            "'window' (\(relative.text)) has no time between its ends for a run at \(time.rfc3339)",
            hint: "'to' has to be later than 'from'"))
      }
    }
    if let from = changes.from { job.window.from = from }
    if let to = changes.to { job.window.to = to }
    job.relativeWindow = job.relativeWindow?.replacing(from: changes.from, to: changes.to)
    if changes.from != nil || changes.to != nil, let from = job.window.from, let to = job.window.to, to <= from {
      faults.append(
        ConfigurationFault(Place("command line"), "the window ends before it begins", hint: "check --from and --to"))
    }
    guard faults.isEmpty else { return faults }
    for input in inputs {
      do {
        var dated: [JobInput.Day] = []
        for day in try days(of: job.window) {
          let path = PathText.resolve(input.path.path(of: CivilTime(milliseconds: day * 86_400_000)), in: job.directory)
          if dated.last.map({ $0.path.utf8.elementsEqual(path.utf8) }) ?? false { continue }
          dated.append(JobInput.Day(number: day, path: path))
        }
        job.inputs[keyPath: input.kind][input.place].days = dated
      } catch {
        faults.append(
          ConfigurationFault(
            Place(source, line: input.line), "'\(input.key)' holds a date pattern, but \(error.problem)",
            hint: error.hint))
      }
    }
    return faults
  }

  private struct Refusal: Error {
    var problem: String
    var hint: String
  }

  /// The days that a window touches, by the calendar of the zone, since 1970; none for one that ends before it begins, which was told.
  private func days(of window: TimeWindow) throws(Refusal) -> [Int64] {
    guard let from = window.from, let to = window.to else {
      throw Refusal(
        problem: "the window is open, so the days are not known", hint: "give 'window' a 'from' and a 'to'")
    }
    guard from < to else { return [] }
    let first = Self.dayNumber(zone.civil(from))
    let last = Self.dayNumber(zone.civil(Instant(milliseconds: to.milliseconds - 1)))
    guard last - first < Int64(Self.mostDays) else {
      throw Refusal(
        problem: "the window has \(last - first + 1) days, of which there may be \(Self.mostDays)",
        hint: "use * in place of the date")
    }
    return Array(first...last)
  }

  private static func dayNumber(_ civil: CivilTime) -> Int64 {
    var day = civil
    (day.hour, day.minute, day.second) = (0, 0, 0)
    return day.milliseconds / 86_400_000
  }
}
