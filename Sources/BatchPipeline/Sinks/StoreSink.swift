import BatchFoundation
import BatchStore

/// The destination of all results, and the source of earlier runs' data.
///
/// Results go to a store: the job's, or a temporary one if they are only examined.
struct StoreSink: Sendable {
  let store: EventStore
  /// The run to which the results belong.
  let run: RunID
  /// The store of earlier runs, read beside the results that are written; nil if it was empty, because a first run would
  /// find only its own results.
  let earlier: EventStore?
  private let quarantined: QuarantinedLines
  private let refuse: (@Sendable ([QuarantinedLine]) throws -> Void)?
  private let reduce: @Sendable (inout LocalBatch) throws -> Void
  private let writer: StoreWriter

  /// - Parameters:
  ///   - earlier: the store of earlier runs; nil if there is none.
  ///   - limit: the maximum number of bytes of quarantined lines that the store keeps; nil if there is no limit.
  ///   - reduce: removes from a batch everything that must not be stored.
  ///   - refuse: receives quarantined lines instead of the store; nil to store them.
  init(
    store: EventStore, run: RunID, earlier: EventStore?, quarantined: QuarantinedLines, limit: Int? = nil,
    reduce: @escaping @Sendable (inout LocalBatch) throws -> Void = { _ in },
    refuse: (@Sendable ([QuarantinedLine]) throws -> Void)? = nil
  ) throws {
    if let limit { try store.quarantine.limit(to: limit) }
    self.earlier = try earlier.flatMap { try $0.isEmpty ? nil : $0.beside() }
    (self.store, self.run, self.quarantined) = (store, run, quarantined)
    (self.refuse, self.reduce) = (refuse, reduce)
    writer = try StoreWriter { try store.commit($0, run: run) }
  }

  func quarantine(_ lines: [QuarantinedLine]) throws {
    if let refuse { return try refuse(lines) }
    var batch = LocalBatch()
    batch.quarantine = lines
    try keep(batch)
  }

  /// Queues the batch, which is stored completely or not at all.
  func keep(_ batch: LocalBatch) throws {
    quarantined.add(batch.quarantine)
    var batch = batch
    batch.quarantine = batch.quarantine.kept
    try reduce(&batch)
    guard batch.hasContent else { return }
    batch.devices.pack()
    try writer.add(batch)
  }

  /// Waits until everything queued is stored, and creates the indexes of the ledger.
  func finish() throws {
    try writer.finish()
    try store.ledger.makeIndexes()
    try store.timelines.mergeStates()
  }
}

extension LocalBatch {
  var hasContent: Bool {
    devices.count > 0 || !events.isEmpty || !digests.isEmpty || !quarantine.isEmpty || rows != nil || !changes.isEmpty
  }
}
