import BatchFoundation
import Testing

@testable import Engage

@Suite struct HourlyLimitTests {
  private final class Place: Sendable {
    let kept = Guarded<String?>(nil)
    let seconds = Guarded<Int64>(1_800_000_000)

    func limit(_ most: Int) -> HourlyLimit {
      HourlyLimit(most, used: kept.withLock { $0 }, now: { self.seconds.withLock { $0 } }) { used in
        self.kept.withLock { $0 = used }
      }
    }
  }

  /// Calls that are taken before one has to wait, and how long.
  private func take(_ limit: HourlyLimit) -> (calls: Int, wait: Double) {
    var calls = 0
    while true {
      if let wait = limit.take() { return (calls, wait) }
      calls += 1
    }
  }

  @Test func runsShareAnHour() {
    let place = Place()
    let first = place.limit(5)
    #expect([first.take(), first.take(), first.take()] == [nil, nil, nil])
    // The next run begins ten minutes later.
    place.seconds.withLock { $0 += 600 }
    let second = take(place.limit(5))
    #expect(second.calls == 2)
    #expect(second.wait == 3060)
    place.seconds.withLock { $0 += 3060 }
    #expect(take(place.limit(5)).calls == 3)
  }

  @Test func aKilledRunLosesAHundredthAtMost() {
    let place = Place()
    #expect(place.limit(1000).take() == nil)
    #expect(take(place.limit(1000)).calls == 990)
  }

  @Test func whatCannotBeReadIsNothing() {
    let place = Place()
    place.kept.withLock { $0 = "x,1:2:3,99999999999:7" }
    #expect(take(place.limit(3)).calls == 3)
  }
}
