import BatchReport

/// The parts of a run whose time is measured, by the names that reports show.
enum RunStage: String {
  case local = "records and rules"
  case identity
  case delivery
  case eventFile = "event file"
}

extension RunOutcome {
  /// Runs a stage and notes how long it took, also when it fails.
  mutating func timed<Value>(_ stage: RunStage, _ body: (inout RunOutcome) throws -> Value) rethrows -> Value {
    let clock = ContinuousClock()
    let started = clock.now
    defer {
      report.stages.append(StageDuration(name: stage.rawValue, seconds: started.duration(to: clock.now).seconds))
    }
    return try body(&self)
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
