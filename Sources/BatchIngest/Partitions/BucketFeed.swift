import BatchFoundation

/// Gives each bucket of a space to one worker.
///
/// A separate thread loads buckets from disk ahead of the workers (``loadAhead()``); a worker that finds none ready
/// loads one itself.
final class BucketFeed: Sendable {
  struct Item {
    let bucket: Int
    /// The records; the consumer must release them and ``loaded``.
    let stored: StoredBucket
    /// The slices in which the bucket must be loaded: one, or several for a large bucket.
    let slices: [Range<RecordPlace>]
    /// The records loaded from disk; nil for a bucket of several slices.
    let loaded: [PackedRecords]?
  }

  private struct State {
    var next = 0
    var ready: [Item] = []
    var isLoading = false
    var isStopped = false
  }

  private enum Step {
    case take(Item)
    case load(Int)
    case end
  }

  /// The maximum number of items loaded ahead.
  static let ahead = 1

  private let space: BucketSpace
  private let order: [Int]
  private let state = Guarded(State())

  /// - Parameter order: the result of ``BucketSpace/order()``.
  init(_ space: BucketSpace, _ order: [Int]) {
    (self.space, self.order) = (space, order)
  }

  deinit {
    for item in state.withLock({ $0.ready }) {
      space.release(item.stored.buffers)
      space.release(item.loaded ?? [])
    }
  }

  /// Returns the next bucket; nil when all are taken or the feed was stopped.
  func next() throws -> Item? {
    let step = state.wait { state -> Step? in
      if state.isStopped { return .end }
      if !state.ready.isEmpty { return .take(state.ready.removeFirst()) }
      if let bucket = takeNext(&state) { return .load(bucket) }
      return state.isLoading ? nil : .end
    }
    switch step {
    case .take(let item): return item
    case .load(let bucket): return try load(bucket)
    case .end: return nil
    }
  }

  /// Loads ahead until all buckets are taken or the feed is stopped.
  func loadAhead() throws {
    while let bucket = state.wait({ state -> Int?? in
      if state.isStopped { return .some(nil) }
      guard state.ready.count < Self.ahead else { return nil }
      let bucket = takeNext(&state)
      state.isLoading = bucket != nil
      return .some(bucket)
    }) {
      do {
        let item = try load(bucket)
        state.change {
          $0.ready.append(item)
          $0.isLoading = false
        }
      } catch {
        stop()
        throw error
      }
    }
  }

  /// Ends the feed for all threads, because one has failed.
  func stop() { state.change { $0.isStopped = true } }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  private func takeNext(_ state: inout State) -> Int? {
    guard state.next < order.count else { return nil }
    defer { state.next += 1 }
    return order[state.next]
  }

  private func load(_ bucket: Int) throws -> Item {
    let stored = space.take(bucket)
    let slices = stored.slices(of: space.share)
    do {
      let loaded = slices.count == 1 ? try stored.load(slices[0], from: space) : nil
      return Item(bucket: bucket, stored: stored, slices: slices, loaded: loaded)
    } catch {
      space.release(stored.buffers)
      throw error
    }
  }
}
