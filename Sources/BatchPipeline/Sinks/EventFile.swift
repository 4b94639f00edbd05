import BatchFoundation
import BatchIngest
import BatchStore

/// Writes sorted events as lines of JSON in canonical order (reference formats 4.2), on several threads.
///
/// The sequences are divided into shares. The calling thread merges the lines of all shares, and the other threads make
/// lines in advance. The calling thread makes missing lines itself, so that any number of threads suffices.
@safe final class EventLines: Sendable {
  /// Consecutive lines of a share, in order. Belongs to one thread at a time.
  private final class Batch: @unchecked Sendable {
    struct Line {
      var timestamp: Instant
      var emission: Int64
      var place: Int
      /// The end of the line in ``Batch/bytes``, and the end of its device in ``Batch/devices``.
      var end: Int
      var deviceEnd: Int
    }

    var bytes = ByteBuffer(capacity: EventLines.batchBytes + (16 << 10))
    var devices = ByteBuffer(capacity: 1 << 12)
    var lines: [Line] = []

    func start(_ line: Int) -> Int { line == 0 ? 0 : lines[line - 1].end }

    func device(_ line: Int) -> Text {
      let start = line == 0 ? 0 : lines[line - 1].deviceEnd
      return unsafe Text(base: UnsafePointer(devices.base + start), count: lines[line].deviceEnd - start)
    }

    func removeAll() {
      bytes.removeAll()
      devices.removeAll()
      lines.removeAll(keepingCapacity: true)
    }
  }

  /// The remaining events of a share. Belongs to the thread that marked the share as busy.
  private final class Rest: @unchecked Sendable {
    var merge: EventMerge

    init(_ merge: EventMerge) { self.merge = merge }
  }

  private struct Share {
    var ready: [Batch] = []
    var spare: [Batch] = []
    var isBusy = false
    var isAtEnd = false
  }

  private struct State {
    var shares: [Share]
    var isOver = false
    var failure: (any Error)?

    /// Marks the idle share with the fewest batches ready as busy; nil if all have enough.
    mutating func takeIdleShare() -> Int? {
      let idle = shares.indices.filter {
        !shares[$0].isAtEnd && !shares[$0].isBusy && shares[$0].ready.count < EventLines.ahead
      }
      guard let share = idle.min(by: { shares[$0].ready.count < shares[$1].ready.count }) else { return nil }
      shares[share].isBusy = true
      return share
    }
  }

  fileprivate static let batchBytes = 1 << 17
  /// The maximum number of batches made in advance for a share.
  private static let ahead = 2

  private let rests: [Rest]
  /// The window of each sequence.
  private let windows: [DeliveryWindow?]
  private let state: Guarded<State>

  init(_ selections: [EventSelection], wireForm: WireForm, shares: Int) throws {
    windows = selections.flatMap { selection in selection.sequences.map { _ in selection.window } }
    let numbered = Array(selections.flatMap(\.sequences).enumerated())
    rests = try (0..<max(shares, 1)).map { share in
      let dealt = stride(from: share, to: numbered.count, by: max(shares, 1)).map { numbered[$0] }
      return Rest(try EventMerge(dealt.map { (place: $0.offset, blocks: $0.element) }, wireForm: wireForm))
    }
    state = Guarded(State(shares: rests.map { _ in Share() }))
  }

  /// Passes all lines to `take`, each with its line ending.
  ///
  /// - Parameter take: receives the next whole lines, always on the calling thread.
  /// - Throws: errors from reading the events and from `take`.
  func run(workers: Int, _ take: @escaping (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    let caller = unsafe Caller(take)
    try Threads.run(workers) { worker in
      if worker > 0 { return self.makeAhead() }
      defer { self.state.change { $0.isOver = true } }
      try unsafe self.putInOrder(caller.take)
    }
  }

  /// The closure that only the calling thread uses.
  @safe private struct Caller: @unchecked Sendable {
    let take: (UnsafeBufferPointer<UInt8>) throws -> Void

    init(_ take: @escaping (UnsafeBufferPointer<UInt8>) throws -> Void) { unsafe self.take = take }
  }

  // MARK: - Making lines

  private func makeAhead() {
    while let share = idleShare() { make(share) }
  }

  /// Returns a share that this thread has marked as busy, to make its next lines; nil when nothing is left to do.
  private func idleShare() -> Int? {
    state.wait { state -> Int?? in
      if state.isOver || state.shares.allSatisfy(\.isAtEnd) { return .some(nil) }
      return state.takeIdleShare().map { .some($0) }
    }
  }

  /// Makes the next lines of a share that this thread has marked as busy.
  private func make(_ share: Int) {
    let batch = state.withLock { $0.shares[share].spare.popLast() } ?? Batch()
    do {
      let isAtEnd = try fill(batch, from: rests[share])
      state.change { state in
        if !batch.lines.isEmpty { state.shares[share].ready.append(batch) }
        state.shares[share].isAtEnd = isAtEnd
        state.shares[share].isBusy = false
      }
    } catch {
      state.change { state in
        state.failure = state.failure ?? error
        state.isOver = true
      }
    }
  }

  /// - Returns: whether the share is at its end.
  private func fill(_ batch: Batch, from rest: Rest) throws -> Bool {
    batch.removeAll()
    while let (event, place) = rest.merge.next {
      if let window = windows[place], !window.contains(event.timestamp) {
        try rest.merge.skip()
        continue
      }
      batch.devices.append(event.device)
      event.appendJSON(to: &batch.bytes)
      batch.bytes.append(UInt8(ascii: "\n"))
      batch.lines.append(
        Batch.Line(
          timestamp: event.timestamp, emission: event.emission, place: place, end: batch.bytes.count,
          deviceEnd: batch.devices.count))
      try rest.merge.skip()
      if batch.bytes.count > Self.batchBytes { return false }
    }
    return true
  }

  // MARK: - Putting them in order

  private struct Head {
    var share: Int
    var batch: Batch
    var line = 0

    func precedes(_ other: Head) -> Bool {
      let (one, another) = (batch.lines[line], other.batch.lines[other.line])
      if one.timestamp != another.timestamp { return one.timestamp < another.timestamp }
      let (device, otherDevice) = (batch.device(line), other.batch.device(other.line))
      if device != otherDevice { return device < otherDevice }
      if one.emission != another.emission { return one.emission < another.emission }
      return one.place < another.place
    }
  }

  private func putInOrder(_ take: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    var heads: [Head] = []
    for share in rests.indices {
      if let batch = try next(of: share, giving: nil) { heads.append(Head(share: share, batch: batch)) }
    }
    var buffer = ByteBuffer(capacity: 2 * Self.batchBytes)
    while !heads.isEmpty {
      let first = Self.first(of: heads)
      let bound = Self.first(of: heads, but: first)
      // Takes the lines of one share up to the next line of another share.
      let start = heads[first].batch.start(heads[first].line)
      repeat {
        heads[first].line += 1
      } while heads[first].line < heads[first].batch.lines.count
        && (bound < 0 || heads[first].precedes(heads[bound]))
      let batch = heads[first].batch
      let end = batch.start(heads[first].line)
      unsafe buffer.append(UnsafeBufferPointer(rebasing: batch.bytes.bytes[start..<end]))
      if buffer.count > Self.batchBytes {
        try unsafe take(buffer.bytes)
        buffer.removeAll()
      }
      guard heads[first].line == batch.lines.count else { continue }
      if let batch = try next(of: heads[first].share, giving: batch) {
        heads[first] = Head(share: heads[first].share, batch: batch)
      } else {
        heads.remove(at: first)
      }
    }
    try unsafe take(buffer.bytes)
  }

  /// Returns the index of the head that comes first, ignoring the one at index `other`; -1 if there is none.
  private static func first(of heads: [Head], but other: Int = -1) -> Int {
    var first = -1
    for index in heads.indices where index != other && (first < 0 || heads[index].precedes(heads[first])) {
      first = index
    }
    return first
  }

  /// Returns the next lines of a share; nil after the last. Makes lines until another thread has made these.
  ///
  /// - Parameter done: a batch whose memory may be reused.
  private func next(of share: Int, giving done: Batch?) throws -> Batch? {
    if let done { state.withLock { $0.shares[share].spare.append(done) } }
    while true {
      let step = try state.wait { state -> Step? in
        if let failure = state.failure { throw failure }
        if !state.shares[share].ready.isEmpty { return .take(state.shares[share].ready.removeFirst()) }
        if state.shares[share].isAtEnd { return .end }
        guard state.shares[share].isBusy else {
          state.shares[share].isBusy = true
          return .make(share)
        }
        return state.takeIdleShare().map { .make($0) }
      }
      switch step {
      case .take(let batch): return batch
      case .end: return nil
      case .make(let share): make(share)
      }
    }
  }

  private enum Step {
    case take(Batch)
    case make(Int)
    case end
  }
}

/// Sorted sequences, and a selection of their events: all, or those within a window.
struct EventSelection {
  var sequences: [BlockSequence]
  /// The window of the selected events; nil to select all.
  var window: DeliveryWindow?
}

/// Writes the `--events-out` file: events in canonical form and order, one per line (reference formats 4.2).
enum EventFile {
  /// - Parameter workers: the number of threads that make the lines, including the calling thread.
  static func write(
    _ selections: [EventSelection], wireForm: WireForm, workers: Int, to file: OutputFile
  ) throws {
    let folder = IngestOptions.systemTemporaryFolder
    let narrowed = try selections.map { selection in
      var selection = selection
      selection.sequences = try EventMerge.narrowed(selection.sequences, wireForm: wireForm, folder: folder)
      return selection
    }
    let lines = try EventLines(narrowed, wireForm: wireForm, shares: workers)
    try unsafe lines.run(workers: workers) { try unsafe file.write(UnsafeRawBufferPointer($0)) }
    try file.finish()
  }
}
