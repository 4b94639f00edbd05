import BatchFoundation
import BatchStore

/// A comparison of new decisions about a span of time with the stored events, choosing those that the store gets.
///
/// Both sides come in the order of delivery, so that one instant of one device is in memory at a time.
struct EventReplacement {
  /// The number of events stored at once.
  private static let stretch = 4096

  private let span: ReplacedSpan
  private let platform: any Platform
  private let sendsAgain: SentEvents?
  private let writer: any BlockWriter
  /// The new events for examination; and again, one instant later, for copying.
  private var decided: EventMerge
  private var copied: EventMerge
  /// The store's events before new lines were imported, and now.
  private var before: EventMerge
  private var stored: EventMerge
  private(set) var counts = RerunCounts()
  /// Events that the store gets under the number of another one that was sent.
  private(set) var twins: Set<NumberedEvent> = []

  /// - Parameters:
  ///   - span: the span of time to compare.
  ///   - decided: returns the new events in sorted sequences, once per call.
  ///   - before: lines of ``StoredSide``, from before new lines were imported.
  ///   - stored: the present lines.
  init(
    _ span: ReplacedSpan, decided: () throws -> [BlockSequence], before: [BlockSequence], stored: [BlockSequence],
    sendsAgain: SentEvents?, _ platform: any Platform, limits: BlockLimits
  ) throws {
    let codec = platform.storeFormat.codec
    self.span = span
    self.platform = platform
    self.sendsAgain = sendsAgain
    writer = codec.writer(limits)
    self.decided = try EventMerge(decided(), codec: codec)
    copied = try EventMerge(decided(), codec: codec)
    self.before = try EventMerge(before, codec: LineCodec())
    self.stored = try EventMerge(stored, codec: LineCodec())
    while let next = self.decided.timestamp, next < span.from {
      try self.decided.skip()
      try copied.skip()
    }
  }

  /// Returns the next events for the store; nil after the last.
  mutating func next() throws -> EventBlocks? {
    var taken = 0
    while taken < Self.stretch, let place = nextPlace() { taken += try pick(at: place) }
    return taken > 0 ? writer.finish() : nil
  }

  private struct Place: Equatable {
    var timestamp: Instant
    var device: [UInt8]

    init?(_ merge: EventMerge) {
      guard let timestamp = merge.timestamp, let device = merge.device else { return nil }
      self.timestamp = timestamp
      self.device = unsafe Array(device.bytes)
    }

    func precedes(_ other: Place) -> Bool {
      timestamp != other.timestamp
        ? timestamp < other.timestamp : device.lexicographicallyPrecedes(other.device)
    }
  }

  private func nextPlace() -> Place? {
    let places = [Place(decided).flatMap { span.contains($0.timestamp) ? $0 : nil }, Place(before), Place(stored)]
    return places.compactMap { $0 }.min { $0.precedes($1) }
  }

  /// - Returns: the number of events at the place that the store gets.
  private mutating func pick(at place: Place) throws -> Int {
    var (events, numbers): ([[UInt8]], [Int64]) = ([], [])
    while Place(decided) == place {
      numbers.append(decided.emission ?? 0)
      events.append(try Self.next(&decided))
    }
    var (earlier, present) = (StoredSide(), StoredSide())
    while Place(before) == place { earlier.add(line: try Self.next(&before), 0) }
    while Place(stored) == place {
      let number = stored.emission ?? 0
      present.add(line: try Self.next(&stored), number)
    }
    guard !span.excluded.contains(place.device) else {
      counts.heldBack += max(present.waiting.count, events.count)
      for _ in events { try copied.skip() }
      return 0
    }
    let platform = platform
    let taken = try present.taken(of: events, sendsAgain, &counts) {
      platform.describe(try JSONNode.parse($0), device: "").type
    }
    counts.removed += earlier.waiting.count
    for (event, fate) in zip(events, taken) where fate != .left && earlier.removeWaiting(event) {
      counts.unchanged += 1
    }
    for (number, fate) in zip(numbers, taken) {
      if fate != .left { _ = try copied.next(into: writer) } else { try copied.skip() }
      if present.hasTwin(number, fate) {
        twins.insert(NumberedEvent(at: place.timestamp, device: place.device, emission: number))
      }
    }
    return taken.count { $0 != .left }
  }

  private static func next(_ merge: inout EventMerge) throws -> [UInt8] {
    var buffer = ByteBuffer()
    _ = try merge.appendNext(to: &buffer)
    return buffer.array
  }
}

/// The store's events at one instant of one device.
struct StoredSide {
  /// The fate of an event in the new decisions.
  enum Fate: Equatable {
    case left
    /// It was sent under this number, and is sent once more.
    case sentAgain(Int64)
    case added
  }

  private var sent: [(event: [UInt8], number: Int64, standing: EventStanding)] = []
  private(set) var waiting: [[UInt8]] = []

  /// Returns an event as a line: its standing, then its bytes.
  static func line(_ event: DecidedEvent, _ standing: EventStanding) -> [UInt8] { [standing.rawValue] + event.json }

  mutating func add(line: [UInt8], _ number: Int64) {
    let (event, standing) = (Array(line.dropFirst()), EventStanding(rawValue: line.first ?? 0))
    guard !standing.isEmpty else { return waiting.append(event) }
    sent.append((event, number, standing))
  }

  /// Returns whether the store gets an event under the number of another one that was sent.
  func hasTwin(_ number: Int64, _ fate: Fate) -> Bool {
    fate != .left && fate != .sentAgain(number) && sent.contains { $0.number == number }
  }

  /// - Returns: whether it was there.
  mutating func removeWaiting(_ event: [UInt8]) -> Bool {
    guard let index = waiting.firstIndex(of: event) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// Returns which of the events the store gets: all except those left.
  ///
  /// A sent event is the same if its bytes are; the device's event of the same type at the same instant is that event
  /// with other attributes. Any other event was never sent. An event with a correction is examined last: a pending
  /// event is not that one.
  ///
  /// - Parameter type: returns the type of an event.
  func taken(
    of events: [[UInt8]], _ sendsAgain: SentEvents?, _ counts: inout RerunCounts, type: ([UInt8]) throws -> String
  ) rethrows -> [Fate] {
    var (left, waiting, taken) = (sent, waiting, [Fate](repeating: .added, count: events.count))
    var others: [Int] = []
    for (index, event) in events.enumerated() {
      guard let match = left.firstIndex(where: { $0.event == event && !$0.standing.contains(.corrected) }) else {
        others.append(index)
        continue
      }
      counts.same += 1
      let found = left.remove(at: match)
      if found.standing.contains(.inDoubt) { counts.inDoubt += 1 }
      taken[index] = sendsAgain == .all ? .sentAgain(found.number) : .left
    }
    for isCorrected in [false, true] {
      others = try others.filter { index in
        if isCorrected, let match = waiting.firstIndex(of: events[index]) {
          waiting.remove(at: match)
          return false
        }
        guard left.contains(where: { $0.standing.contains(.corrected) == isCorrected }) else { return true }
        let wanted = try type(events[index])
        let match = try left.firstIndex {
          try $0.standing.contains(.corrected) == isCorrected && type($0.event).utf8.elementsEqual(wanted.utf8)
        }
        guard let match else { return true }
        counts.different += 1
        let found = left.remove(at: match)
        if found.standing.contains(.inDoubt) { counts.inDoubt += 1 }
        taken[index] = sendsAgain != nil ? .sentAgain(found.number) : .left
        return false
      }
    }
    counts.gone += left.count
    counts.inDoubt += left.count { $0.standing.contains(.inDoubt) }
    counts.stored += taken.count { $0 != .left }
    return taken
  }
}
