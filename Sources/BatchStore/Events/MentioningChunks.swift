import BatchFoundation
import GRDB

/// Narrows a listing to chunks whose blocks contain certain texts. A listing alternates between packs, so each access
/// to a block reads a whole pack. That is fine while most blocks contain the texts; if they are rare, each pack is read
/// once, in advance.
struct MentioningChunks {
  /// The number of blocks without the texts that are read in listing order before all packs are searched.
  static let patience = 256

  let texts: [BytePattern]
  private var misses = 0
  /// The chunks that may contain the texts, sorted; nil until ``patience`` is exhausted.
  private var found: [Int64]?

  init(_ texts: [BytePattern]) { self.texts = texts }

  /// Returns false for a chunk that is known to lack one of the texts.
  mutating func mayHave(_ chunk: Int64, in db: Database) throws -> Bool {
    if texts.isEmpty { return true }
    if found == nil, misses >= Self.patience { found = try Self.find(texts, in: db) }
    guard let found else { return true }
    let place = found.place { $0 < chunk }
    return place < found.count && found[place] == chunk
  }

  mutating func miss() { misses += 1 }

  /// Returns the chunks that may contain the texts, sorted. The chunks of a pack have adjacent numbers, apart
  /// from a few that were moved to other packs.
  private static func find(_ texts: [BytePattern], in db: Database) throws -> [Int64] {
    var found: [Int64] = []
    var pack: (id: Int64, bytes: [UInt8], sums: [UInt8]?)?
    let read = try db.cachedStatement(sql: "SELECT bytes, sums FROM pack WHERE id = ?")
    try db.forEachRow(
      "SELECT id, pack, offset, length FROM chunk WHERE status <> ? AND pack IS NOT NULL ORDER BY id",
      [ChunkStatus.split]
    ) { row in
      let (id, place): (Int64, Int64) = (try row.value(0), try row.value(1))
      if pack?.id != place {
        guard let stored = try Row.fetchOne(read, arguments: [place]) else {
          throw StoreError.inconsistent("pack \(place) is missing")
        }
        pack = (place, try stored.bytes(0), try stored.bytes("sums"))
      }
      guard let pack else { return }
      let (offset, length): (Int, Int) = (try row.value(2), try row.value(3))
      guard offset >= 0, length >= 0, offset <= pack.bytes.count, length <= pack.bytes.count - offset else {
        throw StoreError.damagedBlock
      }
      try pack.bytes.withText { bytes in
        let block = bytes.slice(offset, offset + length)
        if let sums = pack.sums, !BlockSums.confirm(block, at: offset, by: sums) { throw StoreError.damagedBlock }
        if BlockText.occur(texts, in: block) { found.append(id) }
      }
    }
    return found
  }
}

/// A text to search for in blocks. A block contains it if one of its events does. Blocks have each string only once,
/// after its length and escaped as in JSON (``WireForm``), so plain text can be found without decoding them.
package enum BlockText: Sendable {
  case whole([UInt8])
  case part([UInt8])
  /// Bytes that are written to blocks unchanged.
  case bytes([UInt8])

  /// The pattern to search for; nil for text that can be escaped in several ways, for a whole text of 128 bytes or
  /// more, and for a part too short to be rare.
  var pattern: BytePattern? {
    switch self {
    case .whole(let text):
      // A length of up to 127 is one byte.
      Self.isPlain(text) && text.count < 128 ? BytePattern([UInt8(text.count)] + text) : nil
    case .part(let text): Self.isPlain(text) && text.count > 2 ? BytePattern(text) : nil
    case .bytes(let bytes): BytePattern(bytes)
    }
  }

  /// Returns whether the block may contain all texts; false if it certainly lacks one.
  static func occur(_ texts: [BytePattern], in block: Text) -> Bool {
    texts.allSatisfy { $0.place(in: block) != nil } || escape.place(in: block) != nil
  }

  /// The start of an escape that can stand for any character. In a block that has one, a text may be written
  /// differently.
  private static let escape = BytePattern(Array("\\u".utf8))

  /// Returns whether the text has only letters, digits and other characters that no JSON writer escapes.
  private static func isPlain(_ text: [UInt8]) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isASCIILetterOrDigit || " -_.:,".utf8.contains($0) }
  }
}
