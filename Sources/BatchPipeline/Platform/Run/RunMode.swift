/// What a run does with its inputs and its events.
package enum RunMode: Sendable, Equatable {
  /// Reads, keeps, and sends what is due.
  case run
  /// Ends when everything is in the store.
  case noUpload
  /// Sends what the store holds without reading inputs.
  case post
  /// Opens no connection unless it was asked for a plan, and changes nothing; what an earlier run left waiting counts as sent if the
  /// run that it stands for would send it.
  case dryRun(sends: Bool)
  /// Takes quarantined lines of the store in again.
  case replay
  /// Applies the rules to lines of stdin; there is no store.
  case stream

  /// As a store notes it beside its runs.
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

  /// Whether the inputs of the job are read.
  package var readsInputs: Bool {
    switch self {
    case .run, .noUpload, .dryRun: true
    case .post, .replay, .stream: false
    }
  }

  package var sends: Bool { self == .run || self == .post }

  /// Whether something stays of it in the store, so that an error does not undo what went before: once it began, one is part of its
  /// report. Others throw it.
  package var keeps: Bool {
    switch self {
    case .run, .noUpload, .post, .replay: true
    case .dryRun, .stream: false
    }
  }
}
