import BatchDelivery
import BatchFoundation
import BatchStore
import BatchWire
import Testing

/// Services that ask to be left alone for longer than they are waited for.
extension DeliveryScheduleTests {
  private static let away = SendOutcome.refused(
    CallFault("status 503", retryAfter: Milliseconds(20_000), isTemporary: true))

  /// It waited for as long as the service asked, and then said that it had waited as long as patience.
  @Test func aPauseThatIsLongerThanPatienceIsNotWaitedFor() {
    var schedule = schedule { $0.patience.longest = Milliseconds(3000) }
    schedule.add((1...50).map { chunk($0) })
    let started = schedule.start(now: at(0))
    for chunk in started { _ = schedule.finish(chunk, Self.away, now: at(5)) }
    #expect(schedule.start(now: at(6)) == [])
    #expect(schedule.stop == .unreachable(.longerPause(Milliseconds(3000))))
    #expect(schedule.isIdle)
    #expect(
      "\(ServiceStop.unreachable(.longerPause(Milliseconds(3000))))"
        == "the service could not be reached or kept failing, and requested a pause longer than the 3 seconds that "
        + "a run waits (Upload.patience, Upload.patienceAtStart)")
  }

  @Test func aPauseWithinPatienceIsWaitedForAndTheNextOneBeyondItIsNot() {
    var schedule = schedule { $0.patience.atStart = Milliseconds(30_000) }
    schedule.add([chunk(1)])
    _ = schedule.start(now: at(0))
    _ = schedule.finish(chunk(1), Self.away, now: at(0))
    #expect(schedule.start(now: at(19_999)) == [])
    #expect(schedule.start(now: at(20_000)).map(\.id) == [1])
    _ = schedule.finish(chunk(1), Self.away, now: at(20_001))
    #expect(schedule.start(now: at(20_001)) == [])
    #expect(schedule.stop == .unreachable(.longerPause(Milliseconds(30_000))))
  }

  /// Requests that are under way may show that the service takes others.
  @Test func aLongPauseIsKeptWhereTheServiceTakesAnother() {
    var schedule = schedule()
    schedule.add((1...3).map { chunk($0) })
    _ = schedule.start(now: at(0), atMost: 2)
    let busy = CallFault("status 429", retryAfter: Milliseconds(60_000), isThrottle: true)
    _ = schedule.finish(chunk(1), .refused(busy), now: at(0))
    #expect(schedule.start(now: at(1)) == [])
    _ = schedule.finish(chunk(2), .acknowledged, now: at(2))
    #expect(schedule.start(now: at(59_999)) == [])
    #expect(schedule.stop == nil)
    #expect(schedule.start(now: at(60_000)).isEmpty == false)
  }
}
