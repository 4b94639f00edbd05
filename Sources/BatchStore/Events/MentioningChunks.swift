import BatchFoundation
import GRDB

/// Narrows a listing to the chunks whose blocks have some texts.
///
/// The order of a listing goes to and fro between packs, and each look at a block reads a whole pack. That is right as long as most blocks
/// have the texts; a listing that looks for a rare one goes over the packs once, each read one time, and asks then.
struct MentioningChunks {
  /// So many blocks without the texts are looked at in the order of the listing.
  static let patience = 256

  let texts: [BytePattern]
  private var misses = 0
  /// In order; nil while the listing has patience.
  private var found: [Int64]?

  init(_ texts: [BytePattern]) { self.texts = texts }

  /// False for a chunk that is known not to have the texts.
  mutating func mayHave(_ chunk: Int64, in db: Database) throws -> Bool {
    if texts.isEmpty { return true }
    if found == nil, misses >= Self.patience { found = try Self.find(texts, in: db) }
    guard let found else { return true }
    let place = found.place { $0 < chunk }
    return place < found.count && found[place] == chunk
  }

  mutating func miss() { misses += 1 }

  /// Chunks are numbered as their packs are, but for the few that moved: most of a pack's stand together.
  private static func find(_ texts: [BytePattern], in db: Database) throws -> [Int64] {
    var found: [Int64] = []
    var pack: (id: Int64, bytes: [UInt8], sums: [UInt8]?)?
    let read = try db.cachedStatement(sql: "SELECT bytes, sums FROM pack WHERE id = ?")
    let chunks = try Row.fetchCursor(
      db, sql: "SELECT id, pack, offset, length FROM chunk WHERE status <> ? AND pack IS NOT NULL ORDER BY id",
      arguments: [ChunkStatus.split])
    while let row = try chunks.next() {
      let (id, place): (Int64, Int64) = (try row.value(0), try row.value(1))
      if pack?.id != place {
        guard let stored = try Row.fetchOne(read, arguments: [place]) else {
          throw StoreError.inconsistent("pack \(place) is missing")
        }
        pack = (place, try stored.bytes(0), try stored.bytes("sums"))
      }
      guard let pack else { continue }
      let (offset, length): (Int, Int) = (try row.value(2), try row.value(3))
      guard offset >= 0, length >= 0, offset <= pack.bytes.count, length <= pack.bytes.count - offset else {
        throw StoreError.damagedBlock
      }
      let block = Array(pack.bytes[offset..<offset + length])
      if let sums = pack.sums, !BlockSums.confirm(block, at: offset, by: sums) { throw StoreError.damagedBlock }
      if BlockText.stand(texts, in: block) { found.append(id) }
    }
    return found
  }
}
