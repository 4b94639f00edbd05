import ArgumentParser
import BatchFoundation
import BatchStore

struct StoreErasuresCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erasures", abstract: "List what 'forget' removed and when, with keyed hashes of the ids.",
    discussion: "A hash is the HMAC-SHA-256 of an id with a key that only the store has.")

  @OptionGroup var options: StoreOptions<JobName>

  func run() throws {
    try options.reading { store, _ in
      let proofs = try store.erasures.proofs()
      options.answer.format.tell(.array(proofs.map(Self.document))) {
        for proof in proofs {
          let counts = proof.counts.map { "\($0.what) \($0.count)" }.joined(separator: ", ")
          Streams.data("\(proof.id)\t\(proof.at.rfc3339)\t\(counts)")
          for id in proof.ids { Streams.data("\t\(id.kind.name)\t\(id.code)\(id.isRefused ? "" : "\tadmitted")") }
        }
        if proofs.isEmpty { Streams.note("nobody has been forgotten in this store") }
      }
    }
  }

  private static func document(_ proof: ErasureProof) -> JSONNode {
    [
      "id": .number(proof.id), "at": .text(proof.at.rfc3339),
      "ids": .array(
        proof.ids.map { ["kind": .text($0.kind.name), "hash": .text($0.code), "refused": .flag($0.isRefused)] }),
      "removed": .object(proof.counts.map { ($0.what, .number($0.count)) }),
    ]
  }
}
