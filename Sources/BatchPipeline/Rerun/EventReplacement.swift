import BatchFoundation
import BatchStore

/// Compares the new events in a span of time with the stored ones, and chooses those to store.
struct EventReplacement {
  /// The sources of the lines to compare.
  enum Side: Int {
    /// New events, each in its own block.
    case anew
    /// The store's events before and after unread lines were imported; see ``StoredSide/line(_:_:)``.
    case before, stored
  }

  /// The number of events that are collected before they are stored together.
  private static let stretch = 4096

  private let span: ReplacedSpan
  private let describer: EventDescriber
  private let sendsAgain: SentEvents?
  private let writer: EventBlockCopier
  private let wireForm: WireForm
  private(set) var counts = RerunCounts()
  /// Events that must be stored although another event with the same number was sent.
  private(set) var twins: Set<NumberedEvent> = []

  init(_ span: ReplacedSpan, sendsAgain: SentEvents?, _ platform: any Platform, limits: RequestLimits) {
    self.span = span
    self.sendsAgain = sendsAgain
    describer = EventDescriber(platform, showsContent: false)
    wireForm = platform.storeFormat.wireForm
    writer = EventBlockCopier(wireForm, limits)
  }

  /// Passes to `take` the events that must be stored. Only the events of one device at one instant are in
  /// memory at a time.
  mutating func compare(_ lines: OrderedLines, _ take: (EventBlocks) throws -> Void) throws {
    var place: [OrderedLines.Line] = []
    var taken = 0
    try lines.forEach { line in
      if let last = place.last, last.timestamp != line.timestamp || last.device != line.device {
        taken += try pick(place)
        place = []
        if taken >= Self.stretch {
          try take(writer.finish())
          taken = 0
        }
      }
      place.append(line)
    }
    taken += try pick(place)
    if taken > 0 { try take(writer.finish()) }
  }

  /// - Parameter place: all lines for one instant of one device.
  /// - Returns: the number of these events to store.
  private mutating func pick(_ place: [OrderedLines.Line]) throws -> Int {
    guard let first = place.first else { return 0 }
    var events: [(event: EventBlockReader, json: [UInt8])] = []
    var (earlier, present) = (StoredSide(), StoredSide())
    for line in place {
      switch Side(rawValue: line.side) {
      case .anew:
        let event = try wireForm.readerOnFirst(of: line.bytes)
        events.append((event, WireEvent(event).json))
      case .before: earlier.add(line: line.bytes, line.emission)
      case .stored, nil: present.add(line: line.bytes, line.emission)
      }
    }
    guard !span.excluded.contains(first.device) else {
      counts.heldBack += max(present.pending.count, events.count)
      return 0
    }
    let describer = describer
    let fates = try present.taken(of: events.map(\.json), sendsAgain, &counts) {
      try describer.describe($0) { $0.type.description }
    }
    counts.removed += earlier.pending.count
    for ((event, json), fate) in zip(events, fates) {
      if present.hasTwin(event.emission, fate) {
        twins.insert(NumberedEvent(at: first.timestamp, device: first.device, emission: event.emission))
      }
      guard fate != .left else { continue }
      if earlier.removePending(json) { counts.unchanged += 1 }
      writer.append(event)
    }
    return fates.count { $0 != .left }
  }
}

/// The store's events at one instant of one device.
struct StoredSide {
  /// The treatment of a new event.
  enum Fate: Equatable {
    case left
    /// The event was sent under this number and is sent again.
    case sentAgain(Int64)
    case added
  }

  private var sent: [(event: [UInt8], number: Int64, standing: EventStanding)] = []
  private(set) var pending: [[UInt8]] = []

  /// Returns an event as a line: the raw value of its standing, followed by its JSON.
  static func line(_ event: WireEvent, _ standing: EventStanding) -> [UInt8] { [standing.rawValue] + event.json }

  mutating func add(line: [UInt8], _ number: Int64) {
    let (event, standing) = (Array(line.dropFirst()), EventStanding(rawValue: line.first ?? 0))
    guard !standing.isEmpty else { return pending.append(event) }
    sent.append((event, number, standing))
  }

  /// Returns whether an event must be stored although another event with the same number was sent.
  func hasTwin(_ number: Int64, _ fate: Fate) -> Bool {
    fate != .left && fate != .sentAgain(number) && sent.contains { $0.number == number }
  }

  /// - Returns: whether the event was pending.
  mutating func removePending(_ event: [UInt8]) -> Bool {
    guard let index = pending.firstIndex(of: event) else { return false }
    pending.remove(at: index)
    return true
  }

  /// Returns the fate of each event. All events except those that are ``Fate/left`` are stored.
  ///
  /// An event is the same as a sent one if their bytes are equal. Otherwise, a sent event of the same type counts as
  /// the same event with different attributes. Any other event counts as never sent. Sent events with a correction are
  /// matched last, and not with an event that equals a pending one.
  ///
  /// - Parameter type: returns the type of an event.
  func taken(
    of events: [[UInt8]], _ sendsAgain: SentEvents?, _ counts: inout RerunCounts, type: ([UInt8]) throws -> String
  ) rethrows -> [Fate] {
    var (left, pending, taken) = (sent, pending, [Fate](repeating: .added, count: events.count))
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
        if isCorrected, let match = pending.firstIndex(of: events[index]) {
          pending.remove(at: match)
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
