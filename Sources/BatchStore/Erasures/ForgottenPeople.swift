package import BatchFoundation
import GRDB

/// Who was forgotten, by keyed hashes of their ids: enough to refuse their later records, not to tell who they were.
package struct ForgottenPeople: Sendable {
  private let hash: PersonHash
  /// By the short mark of an id, whether it is worth hashing.
  private var isMarked = [Bool](repeating: false, count: 1 << 16)
  private var codes: Set<[UInt8]> = []

  init(_ hash: PersonHash, codes: [(mark: Int, code: [UInt8])]) {
    self.hash = hash
    for entry in codes where isMarked.indices.contains(entry.mark) {
      isMarked[entry.mark] = true
      self.codes.insert(entry.code)
    }
  }

  package var isEmpty: Bool { codes.isEmpty }

  package func contains(_ kind: PersonID.Kind, _ id: Text) -> Bool {
    guard !id.isEmpty, isMarked[hash.mark(id)] else { return false }
    return codes.contains(hash.code(kind, Array(id)))
  }
}

/// Hashes ids with the key of a store.
struct PersonHash: Sendable {
  private let code: MessageAuthenticationCode
  private let seed: UInt64

  init(key: [UInt8]) {
    code = MessageAuthenticationCode(key: key)
    seed = key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// 16 bits by which most ids are told apart at little cost.
  func mark(_ id: Text) -> Int { Int(ByteMix.twoLanes(id, seed: seed).0 >> 48) }

  func code(_ kind: PersonID.Kind, _ id: [UInt8]) -> [UInt8] {
    // No kind has a NUL, so nothing else joins to the same bytes; hashes of reports have none in front.
    Array(code.code(for: [0] + Array(kind.name.utf8) + [0] + id))
  }

  /// What reports show in place of an id.
  func pseudonym(_ id: [UInt8]) -> String { Hexadecimal.text(of: code.code(for: id).prefix(8)) }
}

extension Erasures {
  /// Takes later records with these ids again; the proofs stay, and say so.
  ///
  /// - Returns: those of the ids that were refused.
  package func admit(_ ids: [PersonID]) throws -> [PersonID] {
    let hash = PersonHash(key: try Runs(connection: connection).reportKey())
    return try connection.write { db in
      try ids.filter { id in
        try db.execute(
          sql: "UPDATE erased_id SET is_refused = 0 WHERE kind = ? AND code = ? AND is_refused",
          arguments: [id.kind.name, hash.code(id.kind, id.bytes).blob])
        return db.changesCount > 0
      }
    }
  }

  /// When one of these ids was forgotten last, whether or not its later records count again; nil where none was.
  package func lastErasure(of ids: [PersonID]) throws -> Instant? {
    let hash = PersonHash(key: try Runs(connection: connection).reportKey())
    return try connection.read { db in
      try ids.compactMap { id in
        try Row.integer(
          db, sql: "SELECT max(at) FROM erasure JOIN erased_id ON erasure = id WHERE kind = ? AND code = ?",
          arguments: [id.kind.name, hash.code(id.kind, id.bytes).blob])
      }.max().map { Instant(milliseconds: $0) }
    }
  }

  /// Whose records are refused.
  package func forgottenPeople() throws -> ForgottenPeople {
    let hash = PersonHash(key: try Runs(connection: connection).reportKey())
    let codes = try connection.read { db in
      try Row.fetchAll(db, sql: "SELECT mark, code FROM erased_id WHERE is_refused").map {
        (mark: try $0.value("mark") as Int, code: try $0.blob("code"))
      }
    }
    return ForgottenPeople(hash, codes: codes)
  }

  /// The proofs of all erasures, oldest first.
  package func proofs() throws -> [ErasureProof] {
    try connection.read { db in
      try Row.fetchAll(db, sql: "SELECT id, at FROM erasure ORDER BY id").map { row in
        let id: Int64 = try row.value("id")
        let ids = try Row.fetchAll(
          db, sql: "SELECT kind, code, is_refused FROM erased_id WHERE erasure = ? ORDER BY kind, code",
          arguments: [id]
        ).map {
          ErasureProof.Hashed(
            kind: PersonID.Kind(try $0.value("kind")), code: Hexadecimal.text(of: try $0.blob("code")),
            isRefused: try $0.value("is_refused"))
        }
        let counts = try Row.fetchAll(
          db, sql: "SELECT what, count FROM erased_count WHERE erasure = ? ORDER BY what", arguments: [id]
        ).map { ErasureProof.Count(what: try $0.value("what"), count: try $0.value("count")) }
        return ErasureProof(id: id, at: try row.value("at"), ids: ids, counts: counts)
      }
    }
  }
}

/// What a store keeps of an erasure: when, how much of what, and keyed hashes of the ids.
package struct ErasureProof: Sendable, Equatable {
  package struct Hashed: Sendable, Equatable {
    package var kind: PersonID.Kind
    /// HMAC-SHA-256 with the key of the store, in hexadecimal.
    package var code: String
    /// Whether later records with the id are refused.
    package var isRefused: Bool
  }

  package struct Count: Sendable, Equatable {
    /// The status of events, or what rows were in one word.
    package var what: String
    package var count: Int
  }

  package var id: Int64
  package var at: Instant
  package var ids: [Hashed]
  package var counts: [Count]
}
