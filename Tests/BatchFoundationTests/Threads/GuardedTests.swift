import BatchFoundation
import Testing

@Suite struct GuardedTests {
  @Test func countsEveryChangeOfManyThreads() {
    let sum = Guarded(0)
    Threads.run(8) { _ in
      for _ in 0..<10_000 { sum.withLock { $0 += 1 } }
    }
    #expect(sum.withLock { $0 } == 80_000)
  }

  @Test func handsValuesFromThreadToThreadInOrder() {
    let box = Guarded<Int?>(nil)
    let taken = Guarded<[Int]>([])
    Threads.run(2) { thread in
      for number in 0..<1000 {
        if thread == 0 {
          box.wait { value -> Void? in
            guard value == nil else { return nil }
            value = number
            return ()
          }
        } else {
          let got = box.wait { value in
            defer { value = nil }
            return value
          }
          taken.withLock { $0.append(got) }
        }
      }
    }
    #expect(taken.withLock { $0 } == Array(0..<1000))
  }

  @Test func givesUpWhenTheTimeIsOver() {
    let never = Guarded(false)
    #expect(never.wait(upTo: 20) { $0 ? true : nil } == nil)
    #expect(never.wait(upTo: -1) { $0 ? true : nil } == nil)
  }

  @Test func wakesForAChangeBeforeTheTimeIsOver() throws {
    let raised = Guarded(false)
    try Threads.detach { raised.change { $0 = true } }
    #expect(raised.wait(upTo: 60_000) { $0 ? true : nil } == true)
  }
}

@Suite struct ThreadsTests {
  private struct Failure: Error, Equatable {
    var thread: Int
  }

  @Test func throwsTheErrorOfTheLowestThread() {
    #expect(throws: Failure(thread: 1)) {
      try Threads.run(4) { if $0 > 0 { throw Failure(thread: $0) } }
    }
  }

  @Test(arguments: [0, 1, 5]) func runsTheCallersShareAndAllOthers(count: Int) {
    let seen = Guarded<Set<Int>>([])
    Threads.run(count) { thread in seen.withLock { _ = $0.insert(thread) } }
    #expect(seen.withLock { $0 } == Set(0..<max(count, 1)))
  }
}
