import BatchFoundation
package import BatchReport

/// A stage of a run whose time is measured, by its name in reports.
package enum RunStage: String, Sendable {
  case local = "records and rules"
  case identity
  case delivery
  case eventFile = "event file"
}

extension RunReport {
  /// Runs a stage and notes its duration, even if it fails.
  package mutating func timed<Value>(_ stage: RunStage, _ body: () throws -> Value) rethrows -> Value {
    let clock = ContinuousClock()
    let (started, startedAt) = (clock.now, Instant.now)
    defer {
      stages.append(
        StageDuration(name: stage.rawValue, seconds: started.duration(to: clock.now).seconds, startedAt: startedAt))
    }
    return try body()
  }
}

extension Duration {
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
