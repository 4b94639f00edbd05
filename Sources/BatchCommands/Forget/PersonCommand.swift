import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

struct PersonCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "person", abstract: "Export all data that a store has about a person.", subcommands: [Export.self])

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Export what 'forget' would remove for the same ids, as JSON lines.",
      discussion: """
        The member 'kind' of each line says what the line is: a device with its state, an event, a quarantined line, an \
        identity, a merge, or a report that names the person. Nothing is hashed or omitted. The store is not changed, but no \
        run may be using it. An id that begins with @ names a file of ids, one per line.
        """)

    @Argument(
      help: ArgumentHelp(
        "Any id of the person, as recorded or hashed: device, mobile user id, recipient, e-mail.", valueName: "id|@file"
      ))
    var ids: [String]

    @OptionGroup var choice: StoreChoice<JobOption>

    @Option(
      help: ArgumentHelp("The output; - for stdout. A new file is readable only by its owner.", valueName: "file"))
    var out: String = "-"

    func run() throws {
      let path = try choice.path()
      let job = choice.job.map { [FileUse("the job", $0)] } ?? []
      try FileUse.check(
        [FileUse("--out", out)],
        against: RunRequest.storeFiles(path) + job + NamedIDs.files(of: ids))
      try Platforms.installed.change(path) { store, platform in
        let named = try ids.flatMap(NamedIDs.ids)
        let people = try named.map { try NamedPerson($0, in: store) }
        let devices = Set(people.flatMap(\.devices)).sorted { $0.lexicographicallyPrecedes($1) }
        let file = try OutputFile(out)
        var count = 0
        func write(_ kind: String, _ content: JSONNode) throws {
          count += 1
          // The row's own `kind` becomes the member `type`.
          let members = (content.members ?? []).map { member in
            member.key.isIdentical(to: "kind") ? JSONMember(key: "type", value: member.value) : member
          }
          try file.write((["kind": .text(kind)] as JSONNode).adding(members).compactText + "\n")
        }
        for device in try devices.compactMap(store.timelines.device) {
          try write(
            "devices",
            [
              "device": .text(String(decoding: device.device, as: UTF8.self)),
              "state": .text(try platform.summary(of: device)),
            ])
        }
        try store.erasures.forEachTrace(of: people.flatMap(\.ids), devices: devices, write)
        if count == 0 {
          throw UnknownName(
            kind: "person", name: ids.joined(separator: " "),
            hint: try NamedPerson.erasure(of: named, in: store) ?? "")
        }
        try file.finish()
        Streams.note(
          "\(count.counted("line")) about \(devices.count.counted("device")) written to \(out == "-" ? "stdout" : out.printable)"
        )
      }
    }
  }
}

struct StoreErasuresCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erasures", abstract: "List what 'forget' removed and when, with keyed hashes of the ids.",
    discussion: "A hash is the HMAC-SHA-256 of an id with a key that only the store has.")

  @OptionGroup var options: StoreOptions<JobName>

  func run() throws {
    try options.reading { store, _ in
      let proofs = try store.erasures.proofs()
      options.answer.format.show(proofs.map(Self.facts))
      if proofs.isEmpty, options.answer.format == .text { Streams.note("nobody has been forgotten in this store") }
    }
  }

  private static func facts(_ proof: ErasureProof) -> Facts {
    var facts: Facts = [
      "id": .number(proof.id), "at": .text(proof.at.rfc3339),
      "ids": .array(
        proof.ids.map { ["kind": .text($0.kind.name), "hash": .text($0.code), "refused": .flag($0.isRefused)] }),
      "removed": .object(proof.counts.map { ($0.what, .number($0.count)) }),
    ]
    let counts = proof.counts.map { "\($0.what) \($0.count)" }.joined(separator: ", ")
    facts.addLine("\(proof.id)", proof.at.rfc3339, counts)
    for id in proof.ids { facts.addLine(["", id.kind.name, id.code] + (id.isRefused ? [] : ["admitted"])) }
    return facts
  }
}
