package import BatchFoundation
import GRDB

/// The chunks of events, each a future request, with the attempts to send them and their outcomes.
/// Functions throw ``StoreError``; see ``EventStore``.
package struct Ledger: Sendable {
  let connection: StoreConnection

  /// Returns the number of chunks that are pending or being sent, and the number of their events.
  package func pendingChunks() throws -> (chunks: Int, events: Int) {
    try connection.read { db in
      let row = try Row.fetchOne(
        db, sql: "SELECT count(*) AS chunks, coalesce(sum(events), 0) AS events FROM chunk WHERE status IN (?, ?)",
        arguments: [EventStatus.notPosted, EventStatus.processing])
      return try (row?.value("chunks") ?? 0, row?.value("events") ?? 0)
    }
  }

  /// Returns the next pending chunks after the given one, in delivery order.
  package func pendingChunks(after last: PendingChunk?, limit: Int) throws -> [PendingChunk] {
    let page = try pendingChunks(after: last, limit: limit, descending: false)
    return try EventStore.inOrder(page, after: last, "pending chunks") {
      ($0.first.milliseconds, $0.rank, $0.id) < ($1.first.milliseconds, $1.rank, $1.id)
    }
  }

  /// Returns the last `limit` pending chunks after the given one, in delivery order.
  package func lastPendingChunks(after last: PendingChunk?, limit: Int) throws -> [PendingChunk] {
    try pendingChunks(after: last, limit: limit, descending: true).reversed()
  }

  private func pendingChunks(after last: PendingChunk?, limit: Int, descending: Bool) throws -> [PendingChunk] {
    let order = descending ? "first DESC, rank DESC, id DESC" : "first, rank, id"
    return try connection.all(
      """
      SELECT \(PendingChunk.columns) FROM chunk
      WHERE status = ? AND (first, rank, id) > (?, ?, ?) ORDER BY \(order) LIMIT ?
      """, [EventStatus.notPosted, last?.first.milliseconds ?? -1, last?.rank ?? -1, last?.id ?? -1, limit],
      PendingChunk.init)
  }

  /// Creates the exact body of a chunk. A frozen chunk gets the same bytes as before; any other includes the platform's
  /// changes. Nothing is stored until the intent with the chunk is committed.
  ///
  /// - Throws: `StoreError/inconsistent(_:)` if the body of a frozen chunk does not match its digest.
  package func prepare(_ chunk: PendingChunk, form: Int, limits: RequestLimits) throws -> PreparedChunk {
    let (block, replacement) = try connection.read { db in
      let block = try Self.block(pack: chunk.pack, offset: chunk.offset, length: chunk.length, in: db)
      guard chunk.digest == nil else { return (block, nil as EventBlocks?) }
      return (block, try connection.format.amendment?.amended(block, limits: limits, in: db))
    }
    let source = replacement.map { $0.block(0) } ?? block
    let version = chunk.digest == nil ? form : chunk.form
    let (body, digest) = try connection.format.wireForm.body(
      of: source, version: version, capacity: min(chunk.bodyBytes, 16 << 20) + 4096)
    if let frozen = chunk.digest, frozen != digest {
      throw StoreError.inconsistent("the body of chunk \(chunk.id) does not match its recorded digest")
    }
    return PreparedChunk(chunk: chunk, body: body, digest: digest, form: version, replacement: replacement)
  }

  /// Records ended and new attempts in one transaction. No byte of an intended request may be sent before this returns.
  /// If the platform's changes made an intent's chunk too large for one body, it is split instead.
  ///
  /// - Parameters:
  ///   - changes: changes to pending chunks, carried out after the results are stored.
  ///   - holdsDoubt: whether a chunk that the service may have accepted is held as `UNKNOWN` rather than split or given
  ///     up.
  /// - Throws: ``StoreError/inconsistent(_:)`` if a chunk is not pending, or an attempt has already ended.
  package func commit(
    results: [AttemptResult], changes: [ChunkChange] = [], holdsDoubt: Bool = false,
    intents: [(prepared: PreparedChunk, started: Instant)], run: RunID, limits: RequestLimits
  ) throws -> LedgerReceipt {
    try connection.write { db in
      var receipt = LedgerReceipt()
      for result in results { try settle(result, run: run, limits: limits, &receipt, in: db) }
      for change in changes {
        try carryOut(change, holdsDoubt: holdsDoubt, run: run, limits: limits, &receipt, in: db)
      }
      for intent in intents {
        receipt.begun.append(try Self.begin(intent.prepared, at: intent.started, run: run, &receipt, in: db))
      }
      if !results.isEmpty { CrashPoint.beforeOutcomeCommit.reach() }
      if !intents.isEmpty { CrashPoint.beforeIntentCommit.reach() }
      return receipt
    }
  }

  private static func begin(
    _ prepared: PreparedChunk, at started: Instant, run: RunID, _ receipt: inout LedgerReceipt, in db: Database
  ) throws -> BegunAttempt? {
    var chunk = prepared.chunk
    if let replacement = prepared.replacement {
      if replacement.entries.count > 1 {
        try replace(chunk, by: replacement, reason: "too large for one request", &receipt, in: db)
        return nil
      }
      let pack = try replaceBlock(of: chunk.id, by: replacement, in: db)
      (chunk.pack, chunk.offset, chunk.length) = (pack, 0, replacement.bytes.count)
      chunk.bodyBytes = replacement.entries[0].bodyBytes
    }
    (chunk.digest, chunk.form) = (prepared.digest, prepared.form)
    let statement = try db.cachedStatement(
      sql: "UPDATE chunk SET status = ?, body_digest = ?, form = ? WHERE id = ? AND status = ?")
    try statement.execute(
      arguments: [EventStatus.processing, prepared.digest.blob, prepared.form, chunk.id, EventStatus.notPosted])
    guard db.changesCount == 1 else { throw StoreError.inconsistent("chunk \(chunk.id) is not pending") }
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO attempt (chunk, number, run, body_digest, started)
        VALUES (?1, 1 + (SELECT count(*) FROM attempt WHERE chunk = ?1), ?2, ?3, ?4)
        """)
    try insert.execute(arguments: [chunk.id, run.number, prepared.digest.blob, started.milliseconds])
    return BegunAttempt(attempt: db.lastInsertedRowID, chunk: chunk)
  }

  private func settle(
    _ result: AttemptResult, run: RunID, limits: RequestLimits, _ receipt: inout LedgerReceipt, in db: Database
  ) throws {
    let statement = try db.cachedStatement(
      sql: "UPDATE attempt SET outcome = ?, reason = ?, finished = ? WHERE id = ? AND outcome IS NULL")
    try statement.execute(
      arguments: [result.outcome, result.reason, result.finished.milliseconds, result.attempt])
    guard db.changesCount == 1 else { throw StoreError.inconsistent("attempt \(result.attempt) has already ended") }
    let chunk = result.chunk.id
    func set(_ status: EventStatus, failures: Int) throws {
      let statement = try db.cachedStatement(
        sql: "UPDATE chunk SET status = ?, failures = failures + ?, reason = ?, settled_run = ? WHERE id = ?")
      try statement.execute(
        arguments: [status, failures, result.reason, status == .notPosted ? nil : run.number, chunk])
    }
    switch result.verdict {
    case .posted: try set(.successfullyPosted, failures: 0)
    case .pending(let counts):
      try set(.notPosted, failures: counts ? 1 : 0)
      try Self.thaw(chunk, in: db)
    case .unknown: try set(.unknown, failures: 0)
    case .split:
      try split(result.chunk, reason: result.reason ?? "", limits: limits, &receipt, in: db)
    }
  }

  /// Unfreezes a pending chunk, so that it includes later changes, if it is certain that the service accepted none of
  /// its attempts (reference decisions 30).
  private static func thaw(_ chunk: Int64, in db: Database) throws {
    guard try !isInDoubt(chunk, in: db) else { return }
    let statement = try db.cachedStatement(
      sql: """
        UPDATE chunk SET body_digest = NULL, form = 0 WHERE id = ?1 AND NOT EXISTS (
          SELECT 1 FROM attempt WHERE chunk = ?1 AND (outcome IS NULL OR outcome NOT IN (?2, ?3)))
        """)
    try statement.execute(arguments: [chunk, AttemptOutcome.notSent, AttemptOutcome.refused])
  }

  func setAside(_ chunk: PendingChunk, run: RunID, _ receipt: inout LedgerReceipt, in db: Database) throws {
    let reason = try String.fetchOne(
      db, sql: "SELECT reason FROM attempt WHERE chunk = ? AND outcome = ? ORDER BY number DESC LIMIT 1",
      arguments: [chunk.id, AttemptOutcome.rejected])
    try db.execute(
      sql:
        "UPDATE chunk SET status = ?, failures = failures + 1, reason = ?, settled_run = ? WHERE id = ? AND status = ?",
      arguments: [EventStatus.failedPost, reason, run.number, chunk.id, EventStatus.notPosted])
    guard db.changesCount == 1 else { throw StoreError.inconsistent("chunk \(chunk.id) is not pending") }
    let event = try connection.format.wireForm.reader(of: Self.currentBlock(of: chunk.id, in: db))
    while try event.next() {
      let line = QuarantinedLine(event: event.id, reason: .rejectedByService, detail: reason ?? "", raw: event.json)
      try Quarantine.insert([line], run: run, into: db)
    }
    receipt.quarantined += 1
  }
}

extension PendingChunk {
  /// The columns that ``init(_:)`` reads.
  static let columns =
    "id, first, events, body_bytes, grouping, failures, body_digest, form, pack, offset, length, rank, parent"

  init(_ id: Int64, in db: Database) throws {
    let row = try Row.fetchOne(db, sql: "SELECT \(Self.columns) FROM chunk WHERE id = ?", arguments: [id])
    guard let row else { throw StoreError.inconsistent("chunk \(id) is missing") }
    try self.init(row)
  }

  init(_ row: Row) throws {
    id = try row.value("id")
    first = try row.value("first")
    events = try row.value("events")
    bodyBytes = try row.value("body_bytes")
    group = try row.value("grouping")
    failures = try row.value("failures")
    digest = try row.bytes("body_digest")
    form = try row.value("form")
    pack = try row.value("pack")
    offset = try row.value("offset")
    length = try row.value("length")
    rank = try row.value("rank")
    parent = try row.value("parent")
  }
}
