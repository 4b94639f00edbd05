package import BatchFoundation
import GRDB

/// The people who were forgotten, as keyed hashes of their ids: enough to refuse records, not to identify people.
package struct ForgottenPeople: Sendable {
  private let hash: PersonHash
  /// For each short mark, whether a forgotten id has it, so that an id with that mark is worth hashing in full.
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

/// Computes hashes of ids with the key of a store.
struct PersonHash: Sendable {
  private let code: MessageAuthenticationCode
  private let seed: UInt64

  init(key: [UInt8]) {
    code = MessageAuthenticationCode(key: key)
    seed = key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns a hash of 16 bits, which distinguishes most ids at little cost.
  func mark(_ id: Text) -> Int { Int(ByteMix.twoLanes(id, seed: seed).0 >> 48) }

  func code(_ kind: PersonID.Kind, _ id: [UInt8]) -> [UInt8] {
    // No kind contains a NUL, so different kinds and ids never give the same bytes. The input for hashes in reports
    // starts differently.
    Array(code.code(for: [0] + Array(kind.name.utf8) + [0] + id))
  }

  /// Returns the string that reports show instead of an id.
  func pseudonym(_ id: [UInt8]) -> String { Hexadecimal.text(of: code.code(for: id).prefix(8)) }
}

extension Erasures {
  var personHash: PersonHash { get throws { PersonHash(key: try Runs(connection: connection).reportKey()) } }

  /// Accepts later records with these ids again, and returns the ids whose records were refused. The proofs are kept
  /// and show the change.
  package func admit(_ ids: [PersonID]) throws -> [PersonID] {
    let hash = try personHash
    return try connection.write { db in
      try ids.filter { id in
        try db.execute(
          sql: "UPDATE erased_id SET is_refused = 0 WHERE kind = ? AND code = ? AND is_refused",
          arguments: [id.kind.name, hash.code(id.kind, id.bytes).blob])
        return db.changesCount > 0
      }
    }
  }

  /// Returns the time at which one of these ids was last forgotten, even if later records are accepted now; nil for
  /// never.
  package func lastErasure(of ids: [PersonID]) throws -> Instant? {
    let hash = try personHash
    return try connection.read { db in
      try ids.compactMap { id in
        try Row.integer(
          db, sql: "SELECT max(at) FROM erasure JOIN erased_id ON erasure = id WHERE kind = ? AND code = ?",
          arguments: [id.kind.name, hash.code(id.kind, id.bytes).blob])
      }.max().map { Instant(milliseconds: $0) }
    }
  }

  /// Returns the people whose records are refused.
  package func forgottenPeople() throws -> ForgottenPeople {
    let hash = try personHash
    let codes = try connection.all("SELECT mark, code FROM erased_id WHERE is_refused") {
      (mark: try $0.value("mark") as Int, code: try $0.blob("code"))
    }
    return ForgottenPeople(hash, codes: codes)
  }

  /// Returns the proofs of all erasures, oldest first.
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

/// The proof of an erasure: its time, its counts, and keyed hashes of the ids.
package struct ErasureProof: Sendable, Equatable {
  package struct Hashed: Sendable, Equatable {
    package var kind: PersonID.Kind
    /// The HMAC-SHA-256 of kind and id with the store's key, in hexadecimal.
    package var code: String
    /// Whether later records with the id are refused.
    package var isRefused: Bool
  }

  package struct Count: Sendable, Equatable {
    /// A status of events, or a kind of rows in one word.
    package var what: String
    package var count: Int
  }

  package var id: Int64
  package var at: Instant
  package var ids: [Hashed]
  package var counts: [Count]
}
