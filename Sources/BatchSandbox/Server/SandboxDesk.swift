/// What the server itself keeps while it runs. One lock guards it.
struct SandboxDesk: Sendable {
  var ledger: Ledger
  var faults: FaultProgress
  /// Requests that count for a limit and are being worked on: sequence and start on the monotonic clock.
  var inFlight: [Int: UInt64] = [:]
  var connections = 0
  var requests = 0
  /// Whether the state differs from the one in the file.
  var isChanged = false

  init(_ settings: SandboxSettings) {
    ledger = Ledger(limit: settings.ledgerLimit)
    faults = FaultProgress(plan: settings.faults)
  }
}
