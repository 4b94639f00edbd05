import BatchDelivery
import BatchWire
import DestinationContract
import Testing

@testable import BatchStore

/// What is asked of the end of the queue, before failures in a row count as the service's.
extension DeliveryScheduleTests {
  @Test func repetitionsWaitWhereTheEndOfTheQueueIsToShowMore() {
    var schedule = schedule { $0.concurrency = 1 }
    schedule.add((1...5).map { chunk($0) })
    schedule.addEnd([chunk(90), chunk(91)])
    for id: Int64 in 1...5 {
      #expect(schedule.start(now: at(0)).map(\.id) == [id])
      _ = schedule.finish(chunk(id), Self.failing, now: at(0))
    }
    // All five might be tried again by now.
    #expect(schedule.start(now: at(1000)).map(\.id) == [91])
    _ = schedule.finish(chunk(91), .acknowledged, now: at(1001))
    #expect(schedule.start(now: at(1001)).allSatisfy { (1...5).contains($0.id) })
  }

  @Test func whatIsReadLaterGoesBeforeTheEndOfTheQueue() {
    var schedule = schedule { $0.concurrency = 1 }
    schedule.add((1...5).map { chunk($0) })
    schedule.addEnd([chunk(90), chunk(91)])
    schedule.add([chunk(6), chunk(7)])
    #expect(schedule.upcoming(9).map(\.id) == [1, 2, 3, 4, 5, 6, 7, 90, 91])
    for id: Int64 in 1...5 {
      _ = schedule.start(now: at(0))
      _ = schedule.finish(chunk(id), Self.failing, now: at(0))
    }
    #expect(schedule.start(now: at(1000)).map(\.id) == [91])
  }

  @Test func theEndOfTheQueueIsAskedAlsoWhereSoManyFailAtOnce() {
    var schedule = schedule { $0.concurrency = 8 }
    schedule.add((1...10).map { chunk($0) })
    schedule.addEnd([chunk(90), chunk(91)])
    let first = schedule.start(now: at(0), ahead: 2)
    #expect(first.map(\.id) == Array(1...10))
    for chunk in first { _ = schedule.finish(chunk, Self.failing, now: at(0)) }
    #expect(schedule.takeChanges() == [])
    #expect(schedule.start(now: at(1000)).map(\.id) == [91])
    _ = schedule.finish(chunk(91), .acknowledged, now: at(1001))
    #expect(schedule.stop == nil)
    #expect(schedule.start(now: at(1001)).count == 8)
  }
}
