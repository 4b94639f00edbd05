import BatchFoundation

/// The parts of a job file that depend on the time of the run.
struct JobTimes {
  /// An input with date patterns.
  struct Input {
    /// The list that contains the input: `events`, `notifications` or `deepLinks`.
    var kind: WritableKeyPath<Job.Inputs, [JobInput]>
    /// The input's index in that list.
    var place: Int
    /// The input's name in messages, such as `inputs.events[0]`.
    var key: String
    var line: Int?
    var path: DatedPath
  }

  /// The maximum number of days in a window with date patterns; a longer window is probably a mistake.
  static let mostDays = 4000

  /// The line of `window`.
  var windowLine: Int?
  var zone = Zone.utc
  var inputs: [Input] = []

  /// Resolves these parts in the job, whose `asOf` and undated paths are already set.
  ///
  /// - Parameter now: the clock of a job without `asOf`.
  /// - Parameter changes: changes whose window ends override those of the job.
  /// - Returns: the faults, in the file `source`.
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
            "'window' (\(relative.text)) is empty for a run at \(time.rfc3339)",
            hint: "'to' must be later than 'from'"))
      }
    }
    if let from = changes.from { job.window.from = from }
    if let to = changes.to { job.window.to = to }
    job.relativeWindow = job.relativeWindow?.replacing(from: changes.from, to: changes.to)
    if changes.from != nil || changes.to != nil, let from = job.window.from, let to = job.window.to, to <= from {
      faults.append(
        ConfigurationFault(
          Place("command line"), "the end of the window is not later than its start", hint: "check --from and --to"))
    }
    guard faults.isEmpty else { return faults }
    for input in inputs {
      let days: [Int64]
      do {
        days = try self.days(of: job.window, for: input, source)
      } catch {
        faults += error.faults
        continue
      }
      var dated: [JobInput.Day] = []
      for day in days {
        let path = JobReader.resolve(input.path.path(of: CivilTime(milliseconds: day * 86_400_000)), in: job.directory)
        if dated.last.map({ $0.path.utf8.elementsEqual(path.utf8) }) ?? false { continue }
        dated.append(JobInput.Day(number: day, path: path))
      }
      job.inputs[keyPath: input.kind][input.place].days = dated
    }
    return faults
  }

  /// Returns the days that a window touches in the zone, numbered from 1970; none for an empty window, which was
  /// already reported.
  private func days(
    of window: TimeWindow, for input: Input, _ source: String
  ) throws(ConfigurationErrors) -> [Int64] {
    func refusal(_ problem: String, _ hint: String) -> ConfigurationErrors {
      let problem = "'\(input.key)' contains a date pattern, but \(problem)"
      return ConfigurationErrors([ConfigurationFault(Place(source, line: input.line), problem, hint: hint)])
    }
    guard let from = window.from, let to = window.to else {
      throw refusal(
        "the window lacks a start or an end, so its days are unknown", "set both 'from' and 'to' in 'window'")
    }
    guard from < to else { return [] }
    let first = zone.civil(from).dayNumber
    let last = zone.civil(Instant(milliseconds: to.milliseconds - 1)).dayNumber
    guard last - first < Int64(Self.mostDays) else {
      throw refusal(
        "the window spans \(last - first + 1) days, which exceeds the limit of \(Self.mostDays)",
        "use * instead of the date pattern")
    }
    return Array(first...last)
  }
}
