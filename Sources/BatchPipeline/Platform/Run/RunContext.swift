package import BatchConfiguration
package import BatchFoundation
package import BatchReport
package import BatchStore

package struct RunContext: Sendable {
  package var job: Job
  package var settings: Settings
  package var mode: RunMode
  /// The clock of the run. The window of event times that the service accepts is measured from it.
  package var asOf: Instant
  /// The time when the run began.
  package var now: Instant
  /// The address of an in-process sandbox that replaces the service; nil for the real service.
  package var sandboxAddress: String?
  /// Receives a line for each event with a fault (`--findings-out`); nil if not requested.
  package var findings: OrderedLines?

  package init(
    job: Job, settings: Settings, mode: RunMode, asOf: Instant, now: Instant, sandboxAddress: String? = nil
  ) {
    self.job = job
    self.settings = settings
    self.mode = mode
    self.asOf = asOf
    self.now = now
    self.sandboxAddress = sandboxAddress
  }
}

package enum RunMode: Sendable, Equatable {
  /// Reads inputs, stores events, and sends everything due.
  case run
  /// Ends when everything is in the store.
  case noUpload
  /// Sends the events in the store without reading inputs.
  case post
  /// Changes nothing, and connects only for a plan; pending events count as sent if the simulated run would send them.
  case dryRun(sends: Bool)
  /// Imports the store's quarantined lines again.
  case replay
  /// Applies the rules to lines from stdin, without a store.
  case stream

  /// The name of the mode in the store's list of runs.
  package var name: String {
    switch self {
    case .run: "run"
    case .noUpload: "no-upload"
    case .post: "post"
    case .dryRun: "dry-run"
    case .replay: "replay"
    case .stream: "stream"
    }
  }

  package var isDryRun: Bool { if case .dryRun = self { true } else { false } }

  package var readsInputs: Bool {
    switch self {
    case .run, .noUpload, .dryRun: true
    case .post, .replay, .stream: false
    }
  }

  package var sends: Bool { self == .run || self == .post }

  /// Whether the mode changes the store. Errors after such a run began are in its report; other modes throw them.
  package var keeps: Bool {
    switch self {
    case .run, .noUpload, .post, .replay: true
    case .dryRun, .stream: false
    }
  }
}

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

extension CommandError {
  /// - Parameter failure: the fault; nil if unknown.
  static func unreadable(_ path: String, _ failure: RegularFile.Failure? = nil) -> CommandError {
    var reason = ""
    switch failure {
    case nil, .system: break
    case let failure?: reason = " (\(failure.reason))"
    }
    return CommandError(
      .configuration, "\(path.printable): error: the file cannot be read\(reason); check its path")
  }
}

package enum InputBytes {
  /// Reads a file like ``RegularFile/read(_:largest:takesPipes:)``.
  ///
  /// - Throws: ``CommandError``.
  package static func read(
    _ path: String, largest: Int = RegularFile.usuallyLargest, takesPipes: Bool = false
  ) throws -> [UInt8] {
    do {
      return try RegularFile.read(path, largest: largest, takesPipes: takesPipes)
    } catch {
      throw CommandError.unreadable(path, error)
    }
  }
}
