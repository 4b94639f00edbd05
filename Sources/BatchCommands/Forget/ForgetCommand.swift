import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import BatchStore
import FoundationEssentials

struct ForgetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract:
      "Permanently remove people from a store, skip their later records and, on request, delete them in the service.",
    discussion: """
      A device that has or had one of the ids is removed completely: events, state, quarantined lines, identities and plans. \
      Events of other devices are removed if they contain one of the ids. Posted events remain in the counts. A proof with \
      keyed hashes of the ids is kept ('store erasures'). To keep ids out of the process list, write @ and the name of a file \
      with one id per line.
      """)

  @OptionGroup var job: StoredJob

  @Option(help: ArgumentHelp("A device. Repeatable.", valueName: "id|@file"))
  var device: [String] = []

  @Option(help: ArgumentHelp("A recipient in the Engage list. Repeatable.", valueName: "id|@file"))
  var recipient: [String] = []

  @Option(help: ArgumentHelp("An Engage mobile user id, anonymous or not. Repeatable.", valueName: "id|@file"))
  var mobileUserId: [String] = []

  @Option(
    help: ArgumentHelp("An id from an 'identify' record, or a game's player id. Repeatable.", valueName: "id|@file"))
  var user: [String] = []

  @Flag(help: "First delete the data that the service's API can delete: recipients and audit rows in Engage.")
  var atService = false

  @Flag(
    help:
      "Accept later records of devices that were found by --recipient, --mobile-user-id or --user, because other people use them too."
  )
  var sharedDevices = false

  @Flag(help: "Show the data that would be removed, and change nothing.")
  var dryRun = false

  @Flag(help: "Accept later records with these ids again. Removed data is not restored.")
  var admit = false

  @Option(
    help: ArgumentHelp(
      "A result folder of 'decide' from which the next night continues; the same people are removed from it too. Repeatable.",
      valueName: "folder"))
  var result: [String] = []

  @OptionGroup var personalData: PersonalDataOption
  @OptionGroup var answer: AnswerOption

  func validate() throws {
    guard !(device + recipient + mobileUserId + user).isEmpty else {
      throw ValidationError("Give at least one of --device, --recipient, --mobile-user-id and --user.")
    }
    if admit, atService || sharedDevices || dryRun || !result.isEmpty {
      throw ValidationError("--admit cannot be combined with --at-service, --shared-devices, --dry-run or --result.")
    }
  }

  func run() throws {
    let loaded = try job.load(asksService: atService)
    let request = try job.request(.run, loaded)
    try forget(try ids(of: request.platform), request)
  }

  private func forget(_ ids: [PersonID], _ request: RunRequest) throws {
    if admit { return try admit(ids, request) }
    let results = try ResultErasure(result, request)
    // A job that is run in parts may have no store yet.
    guard FileManager.default.fileExists(atPath: request.storePath) else {
      if result.isEmpty { throw StoreError.missing(path: request.storePath) }
      return show(nil, nil, try results.erase(ids, found: results.devices(of: ids), at: .now, options))
    }
    let platform = request.platform
    try EventStore.change(request.storePath, format: platform.storeFormat) { store in
      try store.check(against: request.storeDestination, jobFile: request.job.file)
      // Parts that could be restored from a partition contain data about people, too.
      try store.refuseMissingParts()
      let personal = try personalData.policy(for: store)
      if atService {
        // A rehearsal finds obstacles before anything is irrevocably deleted.
        _ = try erase(
          ids, [], store, platform, ErasureOptions(admitsFoundDevices: sharedDevices, isRehearsal: true))
        let commands = InstalledPlatforms.of(platform)
        for line in try commands.erase(ids, from: request, store, isRehearsal: dryRun, personal) { Streams.note(line) }
      }
      // The store knows best which person a device belongs to, so it is erased last: after an interruption, the same
      // command still finds the devices.
      let found = try results.devices(of: ids).union(
        store.erasures.devices(of: ids, platform.belonging))
      let others = try results.erase(ids, found: found, at: .now, options)
      let report = try erase(ids, found, store, platform, options)
      show(report, personal, others)
      if answer.format == .text {
        show(unknown: report.unknown)
        let traces = try RemainingTraces(
          of: ids.map(\.bytes) + report.devices, request, wasKnown: !report.counts.isEmpty,
          wasAtService: atService && !dryRun)
        for line in traces.lines { Streams.note("still elsewhere: \(line)") }
      }
    }
  }

  private func admit(_ ids: [PersonID], _ request: RunRequest) throws {
    let count = try EventStore.change(request.storePath, format: request.platform.storeFormat) { store in
      try store.erasures.admit(ids).count
    }
    answer.format.show(
      ["admitted": .number(count)],
      notes: count == 0
        ? "later records with these ids were already accepted; nothing was changed"
        : "later records with \(count.counted("id")) are accepted again")
  }

  /// Warns of ids that the store does not know, because later records with a mistyped id would be skipped silently.
  private func show(unknown: [PersonID]) {
    guard !unknown.isEmpty else { return }
    let kinds = Dictionary(grouping: unknown, by: \.kind.name).sorted { $0.key < $1.key }
    let words = kinds.map { "\($0.value.count.grouped) with --\($0.key)" }.joined(separator: ", ")
    Streams.note(
      "warning: the store had no data for \(unknown.count.counted("id")) (\(words))"
        + (dryRun
          ? ""
          : ", but later records with \(unknown.count == 1 ? "it" : "them") are skipped anyway; "
            + "if an id was mistyped, run the command with only that id and --admit"))
  }

  private var options: ErasureOptions { ErasureOptions(admitsFoundDevices: sharedDevices, isRehearsal: dryRun) }

  private func erase(
    _ ids: [PersonID], _ found: Set<[UInt8]>, _ store: EventStore, _ platform: any Platform, _ options: ErasureOptions
  ) throws -> ErasureReport {
    try store.erasures.erase(ids, found: found, at: .now, options, isOf: platform.belonging)
  }

  /// - Throws: ``CommandError``, or a usage error for empty ids or for kinds that the platform does not know.
  private func ids(of platform: any Platform) throws -> [PersonID] {
    let named = [("device", device), ("recipient", recipient), ("mobile-user-id", mobileUserId), ("user", user)]
    var ids: [PersonID] = []
    for (name, values) in named where !values.isEmpty {
      guard let kind = platform.personIDs.first(where: { $0.name == name }) else {
        throw ValidationError(
          "A store for '\(platform.name)' identifies people only by \(platform.personIDs.map { "--\($0.name)" }.joined(separator: ", ")), not by --\(name)."
        )
      }
      for value in try values.flatMap(NamedIDs.ids) { ids.append(PersonID(kind, value)) }
    }
    guard ids.allSatisfy({ !$0.value.string.isEmpty }), !ids.isEmpty else {
      throw ValidationError("An id is empty, or a file contains no ids.")
    }
    return ids
  }

  /// - Parameters:
  ///   - report: The removals from the job's store; nil if the job has no store yet.
  ///   - personal: The policy for showing the ids of completely removed devices.
  private func show(
    _ report: ErasureReport?, _ personal: PersonalData?, _ others: [(folder: String, report: ErasureReport)]
  ) {
    let devices = (report?.devices ?? []).map { personal?.id(String(decoding: $0, as: UTF8.self)).text ?? "" }
    var facts: Facts = ["dryRun": .flag(dryRun)]
    facts.add("devices", report.map { _ in .texts(devices) })
    facts.note(devices.map { "device \($0) \(dryRun ? "would be" : "was") removed" })
    facts.add("removed", report.map { Self.json($0.counts) })
    facts.add("results", Self.json(others))
    if let report { Self.add(report.counts, of: nil, to: &facts) }
    for other in others { Self.add(other.report.counts, of: other.folder, to: &facts) }
    facts.note(
      dryRun
        ? "nothing was changed; without --dry-run, all of this would be removed"
        : "later records with these ids are skipped and counted as 'forgotten'"
          + (report == nil ? "" : "; 'store erasures' lists the proof"))
    answer.format.show(facts)
  }

  /// - Parameter folder: The folder of a result; nil for the job's store.
  private static func add(_ counts: [String: Int], of folder: String?, to facts: inout Facts) {
    if counts.isEmpty { facts.note("\(folder ?? "the store") has no data for these ids") }
    for (what, count) in counts.sorted(by: { $0.key < $1.key }) {
      facts.addLine([what, "\(count)"] + [folder].compactMap { $0 })
    }
  }

  private static func json(_ counts: [String: Int]) -> JSONNode {
    .object(counts.sorted { $0.key < $1.key }.map { ($0.key, .number($0.value)) })
  }

  private static func json(_ others: [(folder: String, report: ErasureReport)]) -> JSONNode {
    .array(others.map { ["folder": .text($0.folder), "removed": json($0.report.counts)] })
  }
}

/// The places that still have data about people after a store forgot them: the service, exports, a sandbox.
struct RemainingTraces {
  /// One line per place; empty if there are none.
  private(set) var lines: [String] = []
  private(set) var files = 0

  /// The maximum size of the exports to search, in bytes.
  private static let mostBytes: UInt64 = 4 << 30

  /// - Parameters:
  ///   - ids: The given ids and the devices found.
  ///   - wasKnown: Whether the store had data about these ids.
  ///   - wasAtService: Whether the service has deleted what its API can delete.
  init(of ids: [[UInt8]], _ request: RunRequest, wasKnown: Bool, wasAtService: Bool) throws {
    let knowsRecipients = request.platform.personIDs.contains { $0.name == "recipient" }
    if wasKnown, !wasAtService {
      lines.append(
        "the service: any data that was sent"
          + (knowsRecipients ? ", and the recipient in the list (--at-service deletes it)" : ""))
    }
    let traces = ids.map(PersonTrace.init)
    func isThere(_ bytes: [UInt8]) -> Bool { traces.contains { $0.occurs(in: bytes) } }
    let state = RunRequest.sandboxState(beside: request.storePath)
    for path in [state, RunRequest.storePath(of: request.job, inSandbox: true)]
    where !path.isIdentical(to: request.storePath) && FileManager.default.fileExists(atPath: path) {
      if try InputFile(path: FilePath(path), kind: .events, size: 0).has(isThere) {
        lines.append("the sandbox: \(path.printable)")
      }
    }
    try search(request, isThere)
  }

  private mutating func search(_ request: RunRequest, _ isThere: ([UInt8]) -> Bool) throws {
    let inputs: InputFiles
    do {
      inputs = try InputFiles.find(request.job, request.storage, allowsMissing: true)
    } catch let error as InputError {
      lines.append("possibly the exports, which were not searched: \(error)")
      return
    }
    guard inputs.totalSize <= Self.mostBytes else {
      lines.append(
        "possibly the exports (\(inputs.files.count.counted("file"))), which were not searched because they exceed 4 GiB in total"
      )
      return
    }
    var first: InputFile?
    var unread: [String] = []
    for file in inputs.files where !file.isPipe {
      do {
        guard try file.has(isThere) else { continue }
        files += 1
        first = first ?? file
      } catch {
        unread.append("\(error)")
      }
    }
    if let error = unread.first {
      lines.append(
        "possibly \(unread.count.counted("export file")) that could not be searched\(unread.count > 1 ? ", such as" : ""): \(error)"
      )
    }
    if let first {
      lines.append(
        (files == 1 ? "the export file" : "\(files.grouped) export files, such as")
          + " \(first.original.printable); later runs skip these people's lines as 'forgotten'"
      )
    }
  }
}
