import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import FoundationEssentials

/// The files that a run writes for its caller. A failure to write them does not affect stored or sent events.
extension Pipeline {
  /// Writes `--events-out`.
  func writeEvents(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    guard let path = request.eventsOut else { return }
    let isUseless = outcome.report.nothingUsable == true
    let earlier = interruption.signal
    do {
      try outcome.report.timed(.eventFile) {
        let file = try OutputFile(path, request.storage) { if earlier == nil { try interruption.check() } }
        try EventFile.write(
          isUseless ? [] : selections(storage), wireForm: platform.storeFormat.wireForm, workers: ingestOptions.workers,
          to: file)
      }
    } catch let error as OutputError {
      // A signal stops writing a file at once, but an object upload may take a long time.
      if error.message != nil, earlier == nil { try interruption.check() }
      outcome.fail(error)
    }
  }

  private func selections(_ storage: RunStorage) throws -> [EventSelection] {
    func inWindow(_ sequences: [BlockSequence]) -> EventSelection {
      EventSelection(sequences: sequences, window: request.window)
    }
    guard let (store, run) = storage.kept else {
      // A run would also send the events that an earlier run left unsent (reference decisions 32).
      let backlog = request.mode == .dryRun(sends: true) ? try storage.store?.ledger.sequences([.pending]) : nil
      let changed = storage.changed.withLock { $0 }
      let results = try storage.sink.store.ledger.sequences([.stored(by: storage.sink.run)])
      return [inWindow(results + (backlog ?? []).map { leaving(changed, outOf: $0) })]
    }
    // Posted events are listed even outside the window: a request whose response was lost may have been sent again
    // later.
    let posted = EventSelection(sequences: try store.ledger.sequences([.posted(in: run)]))
    return switch request.mode {
    case .post: [posted]
    case .replay: [inWindow(try store.ledger.sequences([.stored(by: run)]))]
    case .run, .noUpload, .dryRun, .stream: [posted, inWindow(try store.ledger.sequences([.unposted(by: run)]))]
    }
  }

  /// Removes events that a rewind changed, because they are listed with their new content only.
  private func leaving(_ changed: Set<EventID>, outOf sequence: @escaping BlockSequence) -> BlockSequence {
    guard !changed.isEmpty else { return sequence }
    let wireForm = platform.storeFormat.wireForm
    return {
      while let block = try sequence() {
        let rest = try wireForm.copy(of: block) { !changed.contains($0.id) }
        if !rest.entries.isEmpty { return rest.block(0) }
      }
      return nil
    }
  }

  /// Writes `--findings-out`.
  func write(_ findings: OrderedLines?, _ outcome: inout RunOutcome) throws {
    guard let findings, let path = request.findingsOut else { return }
    do {
      let file = try OutputFile(path, request.storage)
      try findings.forEach { line in
        try unsafe (line.bytes + [UInt8(ascii: "\n")]).withUnsafeBytes { try unsafe file.write($0) }
      }
      try file.finish()
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  /// Opens the `--decisions-out` file before anything is sent, because only the run that asks a question can report its
  /// answer.
  func decisionsFile() throws(OutputError) -> OutputFile? {
    guard let path = request.decisionsOut, platform.decisionLines != nil else { return nil }
    return try OutputFile(path, request.storage)
  }

  /// Writes the answers to the run's questions, even if a signal ended the run.
  func writeDecisions(_ storage: RunStorage, to file: OutputFile?, _ outcome: inout RunOutcome) throws {
    guard let file, let (store, run) = storage.kept, let lines = platform.decisionLines else { return }
    do {
      try lines(run, store) { try file.write($0 + "\n") }
      try file.finish()
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  /// Writes the report, replacing an earlier report of this run.
  func writeReport(_ outcome: inout RunOutcome) {
    guard let folder = request.job.reports else { return }
    outcome.attempt { outcome in
      if RemoteAddress(folder) != nil {
        outcome.reportFolder = try ReportFolder.write(
          outcome.report, below: folder, in: request.storage,
          windowFrom: request.isOneOfMany ? outcome.report.from : nil,
          replacing: outcome.reportFolder)
        outcome.reported = outcome.exit
        return
      }
      if let path = outcome.reportFolder {
        try FileManager.default.removeItem(atPath: path)
        outcome.reportFolder = nil
      }
      let isForGroup = request.settings.report.mode == .group
      // After the first run, there are no others to list.
      let store = outcome.runs.count > 1 ? outcome.report.store : nil
      let index = store.flatMap { ReportFolder.indexPath(store: $0, isSandbox: request.usesSandbox, below: folder) }
      let links = index.flatMap { ReportFolder.links(to: $0, outcome.runs) }
      let path = try ReportFolder.write(
        outcome.report, below: folder, windowFrom: request.isOneOfMany ? outcome.report.from : nil,
        isForGroup: isForGroup, links: links)
      outcome.reportFolder = path
      outcome.reported = outcome.exit
      guard let store else { return }
      if let index {
        try ReportFolder.writeIndex(
          index, outcome.runs, store: store, in: outcome.report.shownZone, usesSandbox: request.usesSandbox,
          isForGroup: isForGroup)
        try ReportFolder.link(to: index, outcome.runs, isForGroup: isForGroup)
      } else {
        monitor.note(
          "warning: the list of runs was not written, because \(folder.printable) already contains index pages that do not belong to this store"
        )
      }
    }
  }
}

extension Pipeline {
  /// Returns the reasons for the events of one device (`run --explain DEVICE`); nil if there is no device to explain.
  ///
  /// - Parameter store: the store of the job; nil if there is none.
  func explanation(_ local: ProcessingResult, _ files: InputFiles, _ store: EventStore?) throws -> Facts? {
    guard let device = request.explain else { return nil }
    let steps = local.tally.explanation.map { step in
      (file: step.position.flatMap { files.source(of: $0)?.file }, line: step.position?.line, step)
    }
    var state: String?
    var names = steps.isEmpty ? local.nearDevices : []
    if steps.isEmpty {
      try store?.timelines.forEachDevice { stored in
        if stored.device.elementsEqual(device.utf8) {
          state = try platform.summary(of: stored)
        } else if NearestName.isNear(device, stored.device) {
          names.insert(String(decoding: stored.device, as: UTF8.self))
        }
      }
    }
    let similar = Array(names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(5))
    var facts: Facts = ["device": .text(device), "state": .text(state), "similar": .texts(similar)]
    let document: [JSONNode] = steps.map { file, line, step in
      [
        "file": .text(file), "line": .number(line), "timestamp": .text(step.timestamp?.rfc3339),
        "record": .text(step.record), "lines": .texts(step.lines),
      ]
    }
    let lines = steps.flatMap { file, line, step in
      let place = file.map { "\($0):\(line ?? 0): \(step.record)" } ?? "end of input"
      return ["\(place)\(step.timestamp.map { " at \($0.rfc3339)" } ?? "")"] + step.lines.map { "  \($0)" }
    }
    facts.add("steps", .array(document), steps.isEmpty ? nothing(of: device, state, similar) : lines)
    return facts
  }

  private func nothing(of device: String, _ state: String?, _ similar: [String]) -> [String] {
    if let state {
      return [
        "device \(device): nothing to explain, because this run read no new record of this device; its state after earlier runs:",
        "  \(state)",
        "  to see how this state was reached, explain the device again with a new store: --dry-run --store NEW",
      ]
    }
    let hint = NearestName.question(similar).map { "; \($0)" } ?? ""
    return ["device \(device): nothing to explain, because it is in neither the inputs nor the store\(hint)"]
  }
}
