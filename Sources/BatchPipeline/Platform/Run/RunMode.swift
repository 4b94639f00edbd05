package enum RunMode: Sendable, Equatable {
  /// Reads, keeps, and sends everything due.
  case run
  /// Ends when everything is in the store.
  case noUpload
  /// Sends the events in the store without reading inputs.
  case post
  /// Changes nothing, and connects only for a plan; pending events count as sent if the simulated run would send them.
  case dryRun(sends: Bool)
  /// Imports quarantined lines of the store again.
  case replay
  /// Applies the rules to lines of stdin, without a store.
  case stream

  /// The name that a store keeps with its runs.
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

  /// Whether it changes the store: once it has begun, errors are part of its report. Other modes throw them.
  package var keeps: Bool {
    switch self {
    case .run, .noUpload, .post, .replay: true
    case .dryRun, .stream: false
    }
  }
}
