import BatchDelivery
import BatchFoundation
import BatchStore
import BatchWire
import DestinationContract
import Glibc
import StoreSupport
import TestSupport
import Testing

/// What a kill leaves is what the files hold at that instant: a copy of them, taken while requests are under way, is opened
/// and delivered as the next run would.
@Suite struct KilledDeliveryTests {
  @Test(arguments: [0, 1, 2, 7, 20, 39], [UnknownOutcomePolicy.hold, .resend])
  func theNextRunGoesOn(request: Int, onUnknown: UnknownOutcomePolicy) throws {
    let filled = try FilledStore(events: 400, perChunk: 10)
    let copy = try FilledStore(events: 1, perChunk: 1)
    try copy.store.close()
    let before = Guarded<[Int]>([])
    let holder = Guarded<ScriptedDestination?>(nil)
    let (source, target) = (filled.path, copy.path)
    let destination = ScriptedDestination { _, number in
      if number == request {
        before.withLock { $0 = holder.withLock { $0?.sent.flatMap { $0 } } ?? [] }
        for end in ["", "-wal"] { Self.copyFile(source + end, target + end) }
      }
      return number % 9 == 4 ? .unknown(CallFault("connection lost")) : .acknowledged
    }
    holder.withLock { $0 = destination }
    let settings = DeliverySettings.fixture(onUnknown: onUnknown)
    _ = try Delivery(
      ledger: filled.store.ledger, destination: destination, settings: settings, clock: SimulatedClock(), seed: 1
    ).run(filled.run)
    holder.withLock { $0 = nil }

    let next = try EventStore.open(target)
    let second = ScriptedDestination { _, _ in .acknowledged }
    let report = try Delivery(
      ledger: next.ledger, destination: second, settings: settings, clock: SimulatedClock(), seed: 2
    ).run(next.runs.begin(job: "j", configurationDigest: "", started: .fixture, asOf: .fixture))
    let counts = try next.ledger.statusCounts()
    let sent = second.sent.flatMap { $0 }
    #expect(report.recoveredChunks >= 1)
    #expect(Set(sent).count == sent.count)
    switch onUnknown {
    case .hold:
      #expect(Set(sent).isDisjoint(with: before.withLock { $0 }))
      #expect(counts[.successfullyPosted, default: 0] + counts[.unknown, default: 0] == 400)
      #expect(report.exit == .protocolRefused)
    case .resend:
      #expect(counts == [.successfullyPosted: 400])
      #expect(report.eventsInDoubt >= 10)
    }
    try next.close()
  }

  @Test(
    "What a killed run had halved in an outage is not to blame in the next one, also where something was taken in between",
    arguments: Sweep.cases([2, 1, 5, 9], short: 2), [(500, false), (503, false), (500, true), (503, true)])
  func killedInOutage(part: Int, _ outage: (status: Int, takesBefore: Bool)) throws {
    let (status, takesBefore) = outage
    let filled = try FilledStore(events: 6, perChunk: 6)
    let copy = try FilledStore(events: 1, perChunk: 1)
    try copy.store.close()
    let (source, target) = (filled.path, copy.path)
    let isOut = SendOutcome.refused(
      CallFault("status \(status)", isTemporary: status == 503, blamesRequest: true))
    let (parts, taken) = (Guarded(0), Guarded(0))
    let settings = DeliverySettings.fixture(concurrency: 1)
    func deliver(_ store: EventStore, _ destination: ScriptedDestination) throws -> DeliveryReport {
      try Delivery(
        ledger: store.ledger, destination: destination, settings: settings, clock: SimulatedClock(), seed: 2
      ).run(store.runs.begin(job: "j", configurationDigest: "", started: .fixture, asOf: .fixture))
    }
    let first = ScriptedDestination { body, _ in
      let isPart = eventNumbers(body).count < 6
      let number = parts.withLock { parts in
        if isPart { parts += 1 }
        return parts
      }
      if isPart, number == part { for end in ["", "-wal"] { Self.copyFile(source + end, target + end) } }
      guard takesBefore, isPart, number == part - 1 else { return isOut }
      taken.withLock { $0 = eventNumbers(body).count }
      return .acknowledged
    }
    for _ in 0..<settings.maxFailures { _ = try deliver(filled.store, first) }
    #expect(parts.withLock { $0 } >= part)
    let next = try EventStore.open(target)
    for _ in 0...settings.maxFailures {
      #expect(try deliver(next, ScriptedDestination { _, _ in isOut }).exit == .serviceUnavailable)
    }
    let before = taken.withLock { $0 }
    #expect(try next.ledger.statusCounts()[.notPosted] == 6 - before)
    #expect(try deliver(next, ScriptedDestination { _, _ in .acknowledged }).exit == .done)
    #expect(try next.ledger.statusCounts() == [.successfullyPosted: 6])
    try next.close()
  }

  private static func copyFile(_ source: String, _ target: String) {
    let input = open(source, O_RDONLY)
    let output = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(input, &buffer, buffer.count)
      guard count > 0 else { break }
      #expect(write(output, buffer, count) == count)
    }
    close(input)
    close(output)
  }
}
