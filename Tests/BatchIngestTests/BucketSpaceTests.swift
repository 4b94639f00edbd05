import BatchFoundation
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import BatchIngest

/// The memory of a run, and the temporary file behind it.
@Suite struct BucketSpaceTests {
  private static let limit = 8 << 20

  /// Buffers for sixteen buckets in turn, each with its number in it, until less memory is left than is kept in reserve.
  private func fill(_ space: BucketSpace) throws -> Int {
    let count = (Self.limit - Self.limit / 32) / space.bufferBytes
    for number in 0..<count {
      var buffer = try space.empty()
      buffer.base.storeBytes(of: UInt64(number), as: UInt64.self)
      buffer.add(8, at: RecordPlace(timestamp: Int64(number), kind: .events, file: 0, line: UInt64(number)))
      space.place(buffer, bucket: number % 16)
    }
    return count
  }

  /// What the buffers of an item say, in their order.
  private func numbers(_ item: BucketFeed.Item) -> [UInt64] {
    (item.stored.buffers + (item.loaded ?? [])).map { $0.base.load(as: UInt64.self) }.sorted()
  }

  @Test func spillsBeforeAWorkerHasTo() throws {
    let folder = try ScratchFolder()
    let space = BucketSpace(limit: Self.limit, workers: 1, folder: folder.path)
    let ahead = Guarded<Result<Void, any Error>?>(nil)
    let thread = try Threads.begin {
      let result = Result { try space.spillAhead() }
      ahead.change { $0 = result }
    }
    let count = try fill(space)
    // Nobody asks for a buffer that is not there.
    for _ in 0..<10_000 where space.spilledBytes == 0 { usleep(1000) }
    #expect(space.spilledBytes > 0)
    #expect(ahead.withLock { $0 == nil })
    space.endFilling()
    thread.join()
    try ahead.withLock { try $0?.get() }

    let feed = BucketFeed(space, try space.order())
    var found: [Int: [UInt64]] = [:]
    while let item = try feed.next() { found[item.bucket] = numbers(item) }
    #expect(found == Dictionary(grouping: (0..<count).map(UInt64.init)) { Int($0 % 16) })
  }

  /// Buffers on their way to the disk looked like none, and a worker went beyond the limit.
  @Test func waitsForWhatOthersWrite() throws {
    let folder = try ScratchFolder()
    let space = BucketSpace(limit: Self.limit, workers: 1, folder: folder.path)
    let thread = try Threads.begin { try? space.spillAhead() }
    for number in 0..<8 * Self.limit / space.bufferBytes {
      var buffer = try space.empty()
      buffer.add(8, at: RecordPlace(timestamp: Int64(number), kind: .events, file: 0, line: 0))
      space.place(buffer, bucket: 7)
      #expect(space.allocatedBytes <= Self.limit)
    }
    space.endFilling()
    thread.join()
    #expect(space.spilledBytes >= 7 * UInt64(Self.limit))
  }

  @Test func eachBucketIsTakenOnceHoweverManyTakeThem() throws {
    let folder = try ScratchFolder()
    let space = BucketSpace(limit: 1 << 16, workers: 1, folder: folder.path)
    for number in 0..<400 {
      var buffer = try space.empty()
      buffer.base.storeBytes(of: UInt64(number), as: UInt64.self)
      buffer.add(8, at: RecordPlace(timestamp: 0, kind: .events, file: 0, line: UInt64(number)))
      space.place(buffer, bucket: number % 200)
    }
    let feed = BucketFeed(space, try space.order())
    let taken = Guarded<[Int]>([])
    try Threads.run(4) { thread in
      if thread == 3 { return try feed.loadAhead() }
      while let item = try feed.next() {
        taken.change { $0.append(item.bucket) }
        space.release(item.stored.buffers + (item.loaded ?? []))
      }
    }
    #expect(taken.withLock { $0.sorted() } == Array(0..<200))
  }

  /// The file lies in no folder, but the process can still reach it.
  @Test func aBucketThatCannotBeReadBackEndsTheFeedForAll() throws {
    let folder = try ScratchFolder()
    let space = BucketSpace(limit: 1 << 16, workers: 1, folder: folder.path)
    for number in 0..<400 {
      var buffer = try space.empty()
      buffer.add(8, at: RecordPlace(timestamp: 0, kind: .events, file: 0, line: UInt64(number)))
      space.place(buffer, bucket: number % 200)
    }
    let feed = BucketFeed(space, try space.order())
    let opened = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(folder.path + "/")
        == true
    }
    #expect(truncate("/proc/self/fd/\(try #require(opened))", 0) == 0)
    let failure = IngestFailure(operation: "read a temporary file", path: folder.path, code: EIO)
    #expect(throws: failure) {
      try Threads.run(3) { thread in
        if thread == 2 { return try feed.loadAhead() }
        do {
          while let item = try feed.next() { space.release(item.stored.buffers + (item.loaded ?? [])) }
        } catch {
          feed.stop()
          throw error
        }
      }
    }
    let next = try feed.next()
    #expect(next == nil)
  }
}
