import BatchFoundation
import GRDB

/// Narrows a listing to the chunks whose blocks contain some texts. A listing alternates between packs, and each look
/// at a block reads a whole pack: fine while most blocks contain the texts. For rare ones it reads each pack once.
struct MentioningChunks {
  /// The number of blocks without the texts that are read in the order of the listing.
  static let patience = 256

  let texts: [BytePattern]
  private var misses = 0
  /// The matching chunks in order; nil until ``patience`` is exhausted.
  private var found: [Int64]?

  init(_ texts: [BytePattern]) { self.texts = texts }

  /// Returns false for a chunk known not to have the texts.
  mutating func mayHave(_ chunk: Int64, in db: Database) throws -> Bool {
    if texts.isEmpty { return true }
    if found == nil, misses >= Self.patience { found = try Self.find(texts, in: db) }
    guard let found else { return true }
    let place = found.place { $0 < chunk }
    return place < found.count && found[place] == chunk
  }

  mutating func miss() { misses += 1 }

  /// Returns the matching chunks in order. Except for a few that moved, the chunks of a pack have adjacent numbers.
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
      if BlockText.occur(texts, in: block) { found.append(id) }
    }
    return found
  }
}

/// A text that a block contains, anywhere, if one of its events does. Codecs write each string once, after its length
/// and escaped as in JSON (``WireForm``), so plain text can be found without decoding the block.
package enum BlockText: Sendable {
  case whole([UInt8])
  case part([UInt8])
  /// Bytes that a form writes unchanged.
  case bytes([UInt8])

  /// The pattern to search for; nil for text with several encodings, and for text too short to be rare.
  var pattern: BytePattern? {
    switch self {
    case .whole(let text):
      // Lengths up to 127 are one byte.
      Self.isPlain(text) && text.count < 128 ? BytePattern([UInt8(text.count)] + text) : nil
    case .part(let text): Self.isPlain(text) && text.count > 2 ? BytePattern(text) : nil
    case .bytes(let bytes): BytePattern(bytes)
    }
  }

  /// Returns false if the block lacks one of the texts.
  static func occur(_ texts: [BytePattern], in block: [UInt8]) -> Bool {
    texts.allSatisfy { $0.place(in: block) != nil } || escape.place(in: block) != nil
  }

  /// The start of an escape, by which any character may be written differently.
  private static let escape = BytePattern(Array("\\u".utf8))

  /// Returns whether the text has only letters, digits and characters that no JSON writer escapes.
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
