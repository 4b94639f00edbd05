package import BatchFoundation
import GRDB

/// Lines about events, such as those of `--findings-out`, which are added in any order and read sorted.
///
/// They are in a temporary table that disappears with the process, so their number is not limited by memory. Functions
/// throw ``StoreError``, for example if the disk is full.
package final class OrderedLines: Sendable {
  package struct Line {
    package var timestamp: Instant
    package var device: [UInt8]
    package var side: Int
    package var emission: Int64
    package var bytes: [UInt8]
  }

  private let queue: DatabaseQueue

  package init() throws {
    queue = try EventStore.temporaryQueue()
    // The queue must not be released; see ``StoreConnection``.
    _ = unsafe Unmanaged.passRetained(queue)
    try access { try $0.execute(sql: "CREATE TABLE line (at, device, side, emission, bytes)") }
  }

  // If closing a temporary database fails, nothing is lost.
  deinit { try? queue.close() }

  /// Adds the lines of a series, which is empty afterwards.
  package func append(_ series: inout LineSeries) throws {
    let lines = series
    series = LineSeries()
    guard !lines.entries.isEmpty else { return }
    try access { db in
      let insert = try BoundStatement(db, "INSERT INTO line VALUES (?, ?, ?, ?, ?)")
      try unsafe lines.bytes.withUnsafeBytes { bytes in
        for entry in lines.entries {
          insert.bind(1, entry.timestamp.milliseconds)
          unsafe insert.bind(2, blob: UnsafeRawBufferPointer(rebasing: bytes[entry.device]))
          insert.bind(3, entry.side)
          insert.bind(4, entry.emission)
          unsafe insert.bind(5, blob: UnsafeRawBufferPointer(rebasing: bytes[entry.line]))
          try insert.run()
        }
      }
    }
  }

  /// Passes all lines to `body`, sorted by time, device, side and emission number. No line may be added during the
  /// call.
  package func forEach(_ body: (Line) throws -> Void) throws {
    try access { db in
      let rows = try Row.fetchCursor(
        db, sql: "SELECT at, device, side, emission, bytes FROM line ORDER BY at, device, side, emission, rowid")
      while let row = try rows.next() {
        try body(
          Line(timestamp: row[0], device: row.bytes(1), side: row[2], emission: row[3], bytes: row.bytes(4)))
      }
    }
  }

  private func access(_ body: (Database) throws -> Void) throws {
    try StoreError.translating("temporary file") {
      try queue.inDatabase { db in
        try db.inTransaction {
          try body(db)
          return .commit
        }
      }
    }
  }
}

/// The lines that one worker collects for ``OrderedLines``, in any order.
package struct LineSeries {
  fileprivate struct Entry {
    var timestamp: Instant
    var device: Range<Int>
    var side: Int
    var emission: Int64
    var line: Range<Int>
  }

  fileprivate var bytes: [UInt8] = []
  fileprivate var entries: [Entry] = []

  package init() {}

  /// Whether the series should be appended now, because its lines take up a lot of memory.
  package var isFull: Bool { bytes.count > 4 << 20 }

  /// Adds a line, which is given without its line ending.
  ///
  /// - Parameter side: a number that distinguishes lines of different origins.
  package mutating func add(
    _ line: some Collection<UInt8>, at timestamp: Instant, _ device: Text, _ emission: Int64, side: Int = 0
  ) {
    let start = bytes.count
    unsafe bytes.append(contentsOf: device.bytes)
    let middle = bytes.count
    bytes.append(contentsOf: line)
    entries.append(
      Entry(
        timestamp: timestamp, device: start..<middle, side: side, emission: emission, line: middle..<bytes.count))
  }
}
