import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import BatchWire

/// Compares events with a sandbox; Collect reports nothing about accepted ones (reference deltadna-service 3.7).
extension GameService {
  func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, into arrivals: inout Arrivals
  ) throws {
    guard let verdicts = try sandboxVerdicts(interruption) else {
      arrivals.count(.taken, .events, by: try store.ledger.statusCounts()[.successfullyPosted, default: 0])
      arrivals.explain(
        .events,
        "Collect does not report what became of accepted events: the environment's event browser shows it, "
          + "or a sandbox beforehand")
      try ServiceTimes.collect.doubt(store, &arrivals)
      return
    }
    arrivals.explain(
      .events,
      "each event is looked up by its eventUUID among those that the sandbox has checked"
        + (verdicts.areAll ? "" : "; it lists only the last \(verdicts.events.count)"))
    try store.ledger.forEachEvent(status: .successfullyPosted) { event in
      try interruption.check()
      let uuid = try JSONNode.parse(event.json)["eventUUID"]?.string ?? ""
      guard let finding = Self.finding(event.id, verdicts.events[ByteText(uuid.lowercased())], verdicts.areAll) else {
        arrivals.count(verdicts.events[ByteText(uuid.lowercased())] == nil ? .taken : .confirmed, .events)
        return true
      }
      arrivals.add(finding)
      return true
    }
  }

  /// Returns the problem of an event; nil if there is none. `found` is nil if the sandbox does not know the event.
  private static func finding(
    _ id: EventID, _ found: SandboxVerdicts.Event?, _ areAll: Bool
  ) -> Arrivals.Finding? {
    switch found?.verdict {
    case "valid", "duplicate": nil
    case "invalid":
      Arrivals.Finding(
        .different, .events, "\(id)",
        "accepted, but rejected by the checks: \(found?.reasons.joined(separator: ", ") ?? "")",
        repair:
          "compare schema and inputs with 'validate'; the service keeps one event per id, so only later events can be corrected"
      )
    case "outOfWindow":
      Arrivals.Finding(
        .missing, .events, "\(id)", "accepted, then dropped for its time",
        repair: "DeltaDNA.oldestEvent and furthestAhead hold back such events")
    case .some(let other):
      Arrivals.Finding(.unknown, .events, "\(id)", "the sandbox says '\(other)'", repair: "")
    case nil where areAll:
      Arrivals.Finding(
        .missing, .events, "\(id)", "the sandbox does not have it",
        repair: "if the sandbox was started again without its state, delete the store as well and run again")
    case nil: nil
    }
  }

  private func sandboxVerdicts(_ interruption: Interruption) throws -> SandboxVerdicts? {
    guard collect.mayBeSandbox else { return nil }
    let cancellation = HTTPCancellation()
    let collect = collect
    do {
      return try interruption.during({ try collect.sandboxVerdicts(cancellation: cancellation) }) {
        cancellation.cancel()
      }
    } catch let error as SandboxUnreachable {
      try interruption.check()
      throw ArrivalsUnavailable("\(error.fault)", exit: .serviceUnavailable)
    }
  }
}
