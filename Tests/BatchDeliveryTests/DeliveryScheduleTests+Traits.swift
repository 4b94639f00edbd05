import BatchDelivery
import BatchFoundation
import BatchWire
import DestinationContract
import StoreSupport
import Testing

@testable import BatchStore

/// Destinations that say how often a chunk is tried, and in which order.
extension DeliveryScheduleTests {
  private func strict(_ traits: DeliveryTraits, concurrency: Int = 1) -> DeliverySchedule {
    var settings = DeliverySettings.fixture(concurrency: concurrency)
    settings.patience.backoff.first = Milliseconds(2000)
    return DeliverySchedule(settings, traits: traits, random: SplitMix64(seed: 7))
  }

  @Test func aChunkIsTriedAsOftenAsTheDestinationSays() {
    var schedule = strict(DeliveryTraits(isOrdered: true, mostAttempts: 6))
    schedule.add([chunk(1), chunk(2)])
    var now = Int64(0)
    for pause: Int64 in [2000, 4000, 8000, 16_000, 32_000] {
      #expect(schedule.start(now: at(now)).map(\.id).first == 1)
      #expect(schedule.finish(chunk(1), Self.lost, now: at(now)) == .pending(countsAsFailure: false))
      #expect(schedule.start(now: at(now + pause - 1)).map(\.id).first != 1)
      now += pause
    }
    #expect(schedule.start(now: at(now)).map(\.id).first == 1)
    #expect(schedule.stop == nil)
    #expect(schedule.finish(chunk(1), Self.lost, now: at(now)) == .pending(countsAsFailure: false))
    #expect(schedule.stop == .unreachable(.attempts(6)))
  }

  @Test func nothingOvertakesAChunkThatWaits() {
    var schedule = strict(DeliveryTraits(isOrdered: true, mostAttempts: 6))
    schedule.add([chunk(1), chunk(2)])
    #expect(schedule.start(now: at(0)).map(\.id) == [1])
    #expect(schedule.start(now: at(0)) == [])
    _ = schedule.finish(chunk(1), Self.lost, now: at(0))
    #expect(schedule.start(now: at(1999)) == [])
    #expect(schedule.nextStart() == at(2000))
    #expect(schedule.start(now: at(2000)).map(\.id) == [1])
    _ = schedule.finish(chunk(1), .acknowledged, now: at(2001))
    #expect(schedule.start(now: at(2001)).map(\.id) == [2])
  }

  @Test func nothingOvertakesThePartsOfAChunk() {
    var schedule = strict(DeliveryTraits(isOrdered: true, mostAttempts: 6))
    schedule.add([chunk(1), chunk(2)])
    #expect(schedule.start(now: at(0)).map(\.id) == [1])
    #expect(schedule.finish(chunk(1), .rejected("status 413"), now: at(1)) == .split)
    #expect(schedule.start(now: at(1)) == [])
    schedule.addFirst([chunk(3), chunk(4)])
    #expect(schedule.start(now: at(1)).map(\.id) == [3])
    _ = schedule.finish(chunk(3), .acknowledged, now: at(2))
    #expect(schedule.start(now: at(2)).map(\.id) == [4])
  }

  @Test func withSeveralRequestsAtOnceOthersGoOn() {
    var schedule = strict(DeliveryTraits(isOrdered: true, mostAttempts: 6), concurrency: 2)
    schedule.add([chunk(1), chunk(2), chunk(3)])
    #expect(schedule.start(now: at(0)).map(\.id) == [1, 2])
    _ = schedule.finish(chunk(1), Self.lost, now: at(0))
    #expect(schedule.start(now: at(1)).map(\.id) == [3])
  }

  @Test func aLongerRetryAfterHoldsEverythingBack() {
    var schedule = strict(DeliveryTraits(mostAttempts: 6), concurrency: 2)
    schedule.add([chunk(1), chunk(2)])
    _ = schedule.start(now: at(0), atMost: 1)
    let busy = SendOutcome.refused(CallFault("status 503", retryAfter: Milliseconds(9000)))
    _ = schedule.finish(chunk(1), busy, now: at(0))
    #expect(schedule.start(now: at(8999)) == [])
    #expect(schedule.start(now: at(9000)).map(\.id) == [1, 2])
  }

  @Test func aShorterRetryAfterDoesNotShortenThePause() {
    var schedule = strict(DeliveryTraits(isOrdered: true, mostAttempts: 6))
    schedule.add([chunk(1)])
    _ = schedule.start(now: at(0))
    _ = schedule.finish(
      chunk(1), .refused(CallFault("status 503", retryAfter: Milliseconds(1000))), now: at(0))
    #expect(schedule.start(now: at(1999)) == [])
    #expect(schedule.start(now: at(2000)).map(\.id) == [1])
  }

  @Test func aDestinationMayTakeFewerRequestsAtOnce() {
    var schedule = strict(DeliveryTraits(lanes: 2), concurrency: 8)
    schedule.add((1...6).map { chunk($0) })
    #expect(schedule.start(now: at(0)).map(\.id) == [1, 2])
  }
}
