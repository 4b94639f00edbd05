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

/// A text that a block of events has, in whatever place, if one of its events does.
///
/// Codecs write each string once, behind its length and as JSON would have it (``EventCodec``). So plain text is found in the bytes
/// of a block without decoding it.
package enum BlockText: Sendable {
  /// The whole of a string.
  case whole([UInt8])
  /// A part of one.
  case part([UInt8])
  /// Bytes that a codec writes as they are.
  case bytes([UInt8])

  /// Nil for text that may be written in several ways, and for what is too short to be rare.
  var pattern: BytePattern? {
    switch self {
    case .whole(let text):
      // Lengths up to 127 are one byte.
      Self.isPlain(text) && text.count < 128 ? BytePattern([UInt8(text.count)] + text) : nil
    case .part(let text): Self.isPlain(text) && text.count > 2 ? BytePattern(text) : nil
    case .bytes(let bytes): BytePattern(bytes)
    }
  }

  /// False if one of the texts stands nowhere in the block.
  static func stand(_ texts: [BytePattern], in block: [UInt8]) -> Bool {
    texts.allSatisfy { $0.place(in: block) != nil } || escape.place(in: block) != nil
  }

  /// Behind it any character may be written in another way.
  private static let escape = BytePattern(Array("\\u".utf8))

  /// Letters, digits and what no writer of JSON escapes.
  private static func isPlain(_ text: [UInt8]) -> Bool {
    !text.isEmpty
      && text.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: ","):
          true
        default: false
        }
      }
  }
}
