import BatchFoundation
import GRDB

/// Settles changes: finds each event as it was before the change, then determines its outcome.
struct ChangeSettlement {
  private struct Place: Hashable {
    var device: [UInt8]
    var emission: Int64
  }

  private enum Standing {
    /// The event is not in the store, because it is new or another run removed it.
    case unknown
    /// No service can have the event.
    case pending
    /// A service has, or may have, the event as it was sent. The correction is nil if there is none yet.
    case sent(SentEvent, KnownCorrection?)
  }

  private struct SentEvent {
    var chunk: Int64
    var at: Instant
    var emission: Int64
    var json: [UInt8]
    /// The event as the rules produced it when it was sent.
    var produced: [UInt8]
  }

  /// The correction that an earlier run found for a sent event.
  private struct KnownCorrection {
    var id: Int64
    /// Whether only the number of the event changed, which is not reported.
    var isMoved: Bool
    var right: WireEvent?
    var run: Int64
    var source: StoredSource
  }

  private let run: RunID
  private let processedBy: Int64
  private let wireForm: WireForm
  private let changes: [EventChange]
  private var standings: [Standing]
  private var places: [Place: Int] = [:]
  /// The ids of the corrections of events that were pending under a different number.
  private var renumbered: [Int64] = []
  /// For events that have a correction, the devices and numbers under which they were sent, by chunk. They are skipped
  /// when chunks are searched, because these events are identified by their corrected form.
  private var corrected: [Int64: Set<Place>] = [:]
  /// The times of the events to find, in ascending order.
  private(set) var times: [Instant] = []
  /// The same times, for look-ups.
  private var instants: Set<Instant> = []
  private(set) var events = RewoundEvents()

  init(_ changes: [EventChange], run: RunID, processedBy: Int64, _ wireForm: WireForm) {
    self.run = run
    self.processedBy = processedBy
    self.wireForm = wireForm
    self.changes = changes
    standings = changes.map { _ in .unknown }
  }

  /// Finds existing corrections. A corrected event is found by its corrected form; a withdrawn event that returns is
  /// found by its key.
  mutating func findCorrections(in db: Database) throws {
    let hasSome = try db.count("SELECT EXISTS (SELECT 1 FROM correction)") > 0
    for (index, change) in changes.enumerated() {
      let row = hasSome ? try correction(of: change, in: db) : nil
      if let row, try row.value("chunk") != Ledger.renumbered {
        standings[index] = try .sent(sent(row), known(row))
      } else if let before = change.before {
        let number = try row?.emission("sent_emission") ?? before.emission
        places[Place(device: change.device, emission: number)] = index
        if let row { renumbered.append(try row.value("id")) }
        times.append(before.timestamp)
      }
    }
    times.sort()
    instants = Set(times)
    guard hasSome else { return }
    for device in Set(changes.map(\.device)) {
      try db.forEachRow("SELECT chunk, sent_emission FROM correction WHERE device = ?", [device.blob]) { row in
        corrected[try row.value("chunk"), default: []].insert(
          Place(device: device, emission: try row.emission("sent_emission")))
      }
    }
  }

  private func correction(of change: EventChange, in db: Database) throws -> Row? {
    let columns =
      "id, run, chunk, is_moved, sent_at, sent_emission, sent, produced, right, file, line"
    if let before = change.before {
      return try Row.fetchOne(
        db, sql: "SELECT \(columns) FROM correction WHERE device = ? AND right_emission = ? AND right_at = ?",
        arguments: [change.device.blob, before.emission, before.timestamp.milliseconds])
    }
    return try Row.fetchOne(
      db, sql: "SELECT \(columns) FROM correction WHERE device = ? AND key = ? AND right IS NULL",
      arguments: [change.device.blob, change.key.blob])
  }

  private func sent(_ row: Row) throws -> SentEvent {
    try SentEvent(
      chunk: row.value("chunk"), at: row.value("sent_at"), emission: row.emission("sent_emission"),
      json: row.blob("sent"), produced: row.blob("produced"))
  }

  private func known(_ row: Row) throws -> KnownCorrection {
    try KnownCorrection(
      id: row.value("id"), isMoved: row.value("is_moved"), right: row.bytes("right").map(wireForm.event),
      run: row.value("run"), source: StoredSource(file: row.value("file"), line: row.value("line")))
  }

  // MARK: - Finding events

  func place(of event: EventBlockReader, in chunk: Int64) -> Int? {
    guard instants.contains(event.timestamp) else { return nil }
    let place = unsafe Place(device: Array(event.device.bytes), emission: event.emission)
    guard let index = places[place], changes[index].before?.timestamp == event.timestamp,
      corrected[chunk]?.contains(place) != true
    else { return nil }
    return index
  }

  mutating func foundPending(_ index: Int) { standings[index] = .pending }

  mutating func found(_ index: Int, sent event: EventBlockReader, in chunk: Int64) {
    let sent = SentEvent(
      chunk: chunk, at: event.timestamp, emission: event.emission, json: event.json,
      produced: changes[index].before?.json ?? [])
    standings[index] = .sent(sent, nil)
  }

  /// Resolves the quarantined events that the changes replace.
  func resolveQuarantined(in db: Database) throws {
    let pending = """
      SELECT EXISTS (
        SELECT 1 FROM quarantine
        WHERE file >= 'event:' AND file < 'event;' AND replayed_run IS NULL AND resolution IS NULL)
      """
    guard try db.count(pending) > 0 else { return }
    for change in changes {
      guard let before = change.before else { continue }
      let id = change.device.withText {
        EventID(timestamp: before.timestamp, device: $0, emission: before.emission)
      }
      try db.cachedStatement(
        sql: """
          UPDATE quarantine SET resolution = ? WHERE file = ? AND run <> ? AND replayed_run IS NULL
            AND resolution IS NULL
          """
      ).execute(arguments: [
        QuarantineResolution.replaced.rawValue, QuarantinedLine.place(ofEvent: id), processedBy,
      ])
    }
  }

  // MARK: - Outcomes

  mutating func keepCorrections(in db: Database) throws {
    for id in renumbered { try db.execute(sql: "DELETE FROM correction WHERE id = ?", arguments: [id]) }
    for (change, standing) in zip(changes, standings) {
      guard case .sent(let sent, let known) = standing else { continue }
      let right = try change.after.map(wireForm.event)
      events.sentWrongly += (change.before == nil ? 0 : 1) - (right == nil ? 0 : 1)
      if let known { try db.execute(sql: "DELETE FROM correction WHERE id = ?", arguments: [known.id]) }
      let isMoved = right.map { $0.json == sent.produced && $0.timestamp == sent.at } ?? false
      // By now, the event is correct as it was sent.
      if isMoved, right?.emission == sent.emission { continue }
      // The correction from an earlier run is kept until a late record changes the event again.
      let reported = known.flatMap { known in
        known.isMoved == isMoved && known.right?.json == right?.json && known.right?.timestamp == right?.timestamp
          ? known : nil
      }
      if reported == nil, !isMoved { events.corrections += 1 }
      let source = reported?.source ?? change.source
      try db.execute(
        sql: """
          INSERT INTO correction (run, device, key, chunk, is_moved, sent_at, sent_emission, sent, produced, right_at, right_emission, right,
            file, line)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          reported?.run ?? run.number, change.device.blob, change.key.blob, sent.chunk, isMoved, sent.at.milliseconds,
          sent.emission, sent.json.blob, sent.produced.blob,
          right?.timestamp.milliseconds, right?.emission, change.after?.blob, source.file,
          Int64(bitPattern: source.line),
        ])
    }
  }

  /// Returns replacements for events that no service can have, and new events, in delivery order; nil if there are
  /// neither.
  mutating func newEvents(_ limits: RequestLimits) throws -> EventBlocks? {
    var blocks: [PlacedBlock] = []
    for (change, standing) in zip(changes, standings) {
      if case .sent = standing { continue }
      guard let block = change.after else {
        events.count(change, right: nil)
        continue
      }
      let reader = try wireForm.readerOnFirst(of: block)
      events.count(change, right: WireEvent(reader))
      blocks.append(PlacedBlock(block, reader))
    }
    return try wireForm.events(of: blocks, limits)
  }
}

/// A block with a single event, and the event's place in delivery order.
private struct PlacedBlock {
  var timestamp: Instant
  var device: [UInt8]
  var emission: Int64
  var bytes: [UInt8]

  init(_ bytes: [UInt8], _ event: EventBlockReader) {
    self.bytes = bytes
    (timestamp, device, emission) = (event.timestamp, unsafe Array(event.device.bytes), event.emission)
  }

  func precedes(_ other: PlacedBlock) -> Bool {
    if timestamp != other.timestamp { return timestamp < other.timestamp }
    if device != other.device { return device.lexicographicallyPrecedes(other.device) }
    return emission < other.emission
  }
}

extension WireForm {
  /// Returns the first event of a block.
  ///
  /// - Throws: ``StoreError/damagedBlock`` if there is none.
  package func event(_ block: [UInt8]) throws -> WireEvent {
    WireEvent(try readerOnFirst(of: block))
  }

  /// Returns the current events of changes, in delivery order; nil if there are none.
  ///
  /// - Throws: ``StoreError/damagedBlock``, also for a block without events.
  package func events(of changes: [EventChange], _ limits: RequestLimits) throws -> EventBlocks? {
    try events(of: changes.compactMap(\.after), limits)
  }

  /// Returns the first events of the blocks, in delivery order; nil if there are no blocks.
  func events(of blocks: [[UInt8]], _ limits: RequestLimits) throws -> EventBlocks? {
    try events(of: blocks.map { PlacedBlock($0, try readerOnFirst(of: $0)) }, limits)
  }

  /// Opens only one block at a time, because a device may have any number of them.
  fileprivate func events(of blocks: [PlacedBlock], _ limits: RequestLimits) throws -> EventBlocks? {
    guard !blocks.isEmpty else { return nil }
    let writer = EventBlockCopier(self, limits)
    for block in blocks.sorted(by: { $0.precedes($1) }) { writer.append(try readerOnFirst(of: block.bytes)) }
    return writer.finish()
  }

  /// Returns a reader positioned on the first event of a block.
  ///
  /// - Throws: ``StoreError/damagedBlock`` if there is none.
  package func readerOnFirst(of block: [UInt8]) throws -> EventBlockReader {
    let cursor = try reader(of: block)
    guard try cursor.next() else { throw StoreError.damagedBlock }
    return cursor
  }
}
