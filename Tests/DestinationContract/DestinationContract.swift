package import BatchDelivery
import BatchFoundation
import BatchStore
import BatchWire
import StoreSupport
import TestSupport
import Testing

/// What a delivery relies on, whatever stands behind its destination (reference guarantees 3): one suite for all of them.
package struct DestinationContract {
  /// What the first requests meet.
  package enum Trouble: Sendable, CaseIterable {
    case none
    /// Nothing is taken until ``Service/recover``.
    case unavailable
    /// What was sent is taken, but nobody hears of it; nothing of the kind where there is no answer.
    case answersLost
    /// Nothing is taken, and a success is begun whose head breaks off; nothing of the kind where there is no answer.
    case answersCut
  }

  /// A destination with what stands behind it in reach.
  package struct Service {
    package var destination: any Destination
    /// The bodies that were taken, in any order.
    package var arrivals: () throws -> [String]
    /// Ends the trouble.
    package var recover: () throws -> Void

    package init(
      _ destination: any Destination, arrivals: @escaping () throws -> [String],
      recover: @escaping () throws -> Void = {}
    ) {
      self.destination = destination
      self.arrivals = arrivals
      self.recover = recover
    }
  }

  private let service: (Trouble) throws -> Service

  package init(_ service: @escaping (Trouble) throws -> Service) { self.service = service }

  package func check() throws {
    for trouble in Trouble.allCases { try everyEventArrives(trouble) }
  }

  /// Whatever happens on the way: each event arrives; none twice without it being known; the same events in the same bytes.
  private func everyEventArrives(_ trouble: Trouble) throws {
    let filled = try FilledStore(events: 60, perChunk: 10)
    let service = try service(trouble)
    var inDoubt = 0
    var rounds = 0
    repeat {
      let report = try deliver(filled, service)
      inDoubt += report.eventsInDoubt
      rounds += 1
      try service.recover()
      if report.stop == nil { break }
    } while rounds < 5
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 60], "\(trouble)")
    let bodies = try service.arrivals()
    let arrived = bodies.flatMap(eventNumbers)
    #expect(Set(arrived) == Set(1...60), "\(trouble)")
    // A service that drops what it has already leaves no doubt; elsewhere an event counts once, however often its answer was lost.
    let isIdempotent = service.destination.traits.isIdempotent
    let repeated = Dictionary(grouping: arrived) { $0 }.count { $1.count > 1 }
    #expect(isIdempotent ? inDoubt == 0 : repeated <= inDoubt, "\(trouble)")
    #expect(trouble == .answersLost || arrived.count == 60, "\(trouble)")
    #expect(Set(bodies).count == 6, "\(trouble): bodies that are sent again are the same")

    let again = try deliver(filled, service)
    #expect(again.upload.requests == 0, "\(trouble)")
    #expect(try service.arrivals().count == bodies.count, "\(trouble)")
  }

  private func deliver(_ filled: FilledStore, _ service: Service) throws -> DeliveryReport {
    var settings = DeliverySettings.fixture()
    settings.patience.backoff = Backoff(first: Milliseconds(5), longest: Milliseconds(20))
    return try Delivery(ledger: filled.store.ledger, destination: service.destination, settings: settings, seed: 7)
      .run(filled.run)
  }
}
