import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchMaps
import BatchReport
import BatchStore

extension Pipeline {
  /// Processes the records of the job's inputs, ordered per device, and stores the resulting events.
  ///
  /// - Returns: false if no line was usable; then only quarantined lines were kept, and nothing may be sent.
  func decide(_ preparation: RunPreparation, _ storage: RunStorage, _ outcome: inout RunOutcome) throws -> Bool {
    let files = preparation.files
    var preparation = preparation
    if request.mode.readsInputs, request.part == nil {
      preparation.options.ingest.knownFiles = KnownFiles(try storage.store?.runs.knownFiles() ?? [])
    }
    try judgeUse(in: storage.store, &preparation.options)
    let local = try process(files, preparation, storage, &outcome)
    guard local.isUsable else {
      if let kept = storage.kept {
        note("Quarantine", try kept.store.quarantine.unkeptNote(of: kept.run), &outcome)
      }
      outcome.report.nothingUsable = true
      outcome.report.knownUntil = storage.knownBefore
      var error = NothingUsable(local.ingest.counts, request.job.window, outcome.report.quarantine)
      for advice in (outcome.report.quarantineCauses ?? []).compactMap(\.advice) where !error.causes.contains(advice) {
        error.causes.append(advice)
      }
      outcome.fail(error)
      return false
    }
    outcome.explanation = try explanation(local, files, storage.store)
    if let limit = request.maxQuarantine, local.quarantined > limit {
      outcome.fail(
        CommandError.exceeded(
          limit, lines: local.quarantined - local.tally.quarantinedEvents, events: local.tally.quarantinedEvents,
          isDryRun: request.mode.isDryRun))
    } else if request.refusesQuarantined, local.quarantined > 0 {
      outcome.exit = .inputRefused
    }
    guard let (store, run) = storage.kept else { return true }
    try store.runs.note(knownFiles: Array(local.ingest.knownFiles.values))
    let rules = preparation.options.rules
    note("Late", lateNote(local.late, rules, files, store), &outcome)
    for words in try missedNotes(local.ingest.past, processedBefore: storage.knownBefore, rules, files, store) {
      note("Late", words, &outcome)
    }
    let settled = try settleReplacedLines(files, store, run)
    if settled > 0 {
      let words = settled.counted(
        "quarantined line was replaced in its file or is valid now, so it is no longer pending",
        "quarantined lines were replaced in their files or are valid now, so they are no longer pending")
      note("Quarantine", words, &outcome)
    }
    note("Quarantine", try store.quarantine.unkeptNote(of: run), &outcome)
    outcome.report.hasPendingQuarantine = try !store.quarantine.counts().isEmpty
    return true
  }

  /// Processes the lines in files and adds the figures to the report.
  ///
  /// - Parameter rewinds: false if everything is processed from the first record on, without earlier states.
  func process(
    _ files: InputFiles, _ preparation: RunPreparation, _ storage: RunStorage, rewinds: Bool = true,
    _ outcome: inout RunOutcome
  ) throws -> ProcessingResult {
    var options = preparation.options
    // Replayed lines belong to the windows of the runs that quarantined them, regardless of the job's current window.
    if let replay = storage.replay { options.ingest.window = replay.input.window }
    options.reach = storage.reach(request.settings)
    if let store = storage.store, !policyIsGiven { options.admit = { try refuse($0, store) } }
    let files = try storage.numbered(files)
    if let forgotten = try storage.store?.erasures.forgottenPeople(), !forgotten.isEmpty {
      options.ingest.isForgotten = { forgotten.contains($0, $1) }
      options.ingest.personKinds = platform.personIDs
    }
    if request.stopsEarly { options.mostQuarantined = request.maxQuarantine }
    options.ingest.knownSince = try storage.store?.retention.knownSince()
    options.decider.knownUntil = storage.knownUntil
    if rewinds { try prepareRewind(storage, &options) }
    if request.mode.readsInputs, request.part == nil, let store = storage.kept?.store {
      try noteMissedLines(of: store, &options.ingest)
    }
    let size = files.totalSize
    let stage = ProcessingStage(files: files, options: options, sink: storage.sink)
    let local = try outcome.report.timed(.local) {
      do {
        return try stage.run { try progress($0, of: size) }
      } catch var error as TooManyQuarantined {
        // Stores the quarantined lines, so that the user can search them for the reason.
        try storage.sink.finish()
        error.store = storage.kept?.store.path
        throw error
      }
    }
    // Only now are all devices processed up to the known time: a run killed earlier leaves the store's known time
    // unchanged. A window without usable lines does not count as read, even if other windows of the same command had
    // some.
    let isUsed =
      request.allowsEmpty || request.part != nil || !request.mode.readsInputs
      || !RunSummary.Records(local.ingest.counts).isUseless(true)
    if !isUsed { outcome.report.knownUntil = storage.knownBefore }
    if local.isUsable, isUsed, let kept = storage.kept, let known = storage.knownUntil {
      try kept.store.runs.note(knownUntil: known, reach: storage.reach(request.settings), by: kept.run)
    }
    outcome.report.summary.rewind.devices += local.rewoundDevices
    outcome.report.summary.rewind.records += local.rewoundRecords
    outcome.report.summary.rewind.added += local.addedEvents
    if let since = options.ingest.knownSince, local.ingest.counts.beforeKnown > 0 {
      let lines = local.ingest.counts.beforeKnown.counted("line")
      note(
        "Refused",
        "\(lines) before \(since.rfc3339) counted as out of window: the store no longer knows which of them it imported "
          + "('store purge')", &outcome)
    }
    note("Window", outsideNote(local), &outcome)
    if local.ingest.counts.read == 0, let file = files.files.first {
      note("warning", "no record in any input file; the first file is \(file.original.printable)", &outcome)
    }
    if !request.processesAnew {
      note("warning", FutureRecords.note(local.tally, asOf: request.asOf), &outcome)
      note("warning", PastRecords.note(local.tally), &outcome)
    }
    // Without a store, the key is not kept, but hashes are still consistent within one run.
    let key = try storage.store?.runs.reportKey() ?? (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    let lines = storage.quarantined.first
    let causes = advised(storage.quarantined.causes, files, preparation.options.vocabulary)
    if request.mode.isDryRun {
      outcome.findings = Findings(
        local, files, lines, causes, preparation.options.vocabulary, limit: request.findingLimit)
    }
    outcome.report.quarantineCauses = causes
    outcome.report.add(
      local, files,
      storage.quarantined.examples(
        atMost: request.mode.isDryRun ? QuarantinedLines.shownWithoutStore : QuarantinedLines.shown),
      preparation.options.vocabulary.dictionary,
      PersonalData(outcome.report.personalData, key: key))
    try lookAtInputs(files, isFirst: storage.kept?.run.number == 1, &outcome)
    outcome.figures = local.tally.figures
    outcome.details = local.tally.details
    platform.add(outcome.figures, outcome.details, of: request.context, to: &outcome.report)
    if local.isUsable, request.mode == .dryRun(sends: true) { try noteEstimate(local, storage, &outcome) }
    return local
  }

  /// Adds advice on the format of lines. The first faulty file of each combination of input kind and map is examined.
  private func advised(
    _ causes: [FindingCause], _ files: InputFiles, _ vocabulary: RecordVocabulary
  ) -> [FindingCause] {
    let ofShape: [QuarantineReason] = [.missingField, .unknownType, .wrongType, .invalidTimestamp, .noRule, .otherForm]
    var looked: [String: String] = [:]
    return causes.map { cause in
      guard ofShape.contains(where: { $0.rawValue.isIdentical(to: cause.reason) }),
        let file = files.files.first(where: { $0.original.isIdentical(to: cause.file) }), file.handedOver == nil
      else { return cause }
      let entry = "\(file.kind.name) \(file.map?.identity ?? "")"
      // A file that cannot be read again gets no advice.
      let words = looked[entry] ?? (try? LikelyEntry(of: file, vocabulary))?.words ?? ""
      looked[entry] = words
      var cause = cause
      cause.advice = words.isEmpty ? nil : words
      return cause
    }
  }

  /// Shows a note to the user and adds it to the report; does nothing for nil.
  func note(_ kind: String, _ note: String?, _ outcome: inout RunOutcome) {
    guard let note else { return }
    outcome.report.notes.append(note)
    monitor.note("\(kind): \(note)")
  }

  /// - Parameter size: the size of all inputs in bytes.
  func progress(_ progress: IngestProgress, of size: UInt64) throws {
    try interruption.check()
    monitor.progress(progress, of: size)
  }
}

/// A preview of inputs, for first runs and validation: their devices, times and unused fields.
extension Pipeline {
  /// The maximum number of records examined for each combination of input kind and map. A first run examines fewer,
  /// because it has to read them a second time for this.
  private var examined: Int { request.mode.isDryRun ? 10_000 : 2_000 }

  /// - Parameter isFirst: whether the store has no earlier run.
  func lookAtInputs(_ files: InputFiles, isFirst: Bool, _ outcome: inout RunOutcome) throws {
    guard isFirst || request.refusesQuarantined, request.mode.readsInputs, request.part == nil else { return }
    var lines: [String] = []
    var seen: Set<String> = []
    for file in files.files where seen.insert("\(file.kind.name) \(file.map?.identity ?? "")").inserted {
      let alike = files.files.filter {
        $0.kind == file.kind && $0.map == file.map && !$0.isPipe && $0.handedOver == nil
      }
      // The lines themselves were processed, so a file that cannot be read again only lacks its preview.
      guard let first = alike.first, let trial = try? ExportTrial(of: alike, request.vocabulary, limit: examined)
      else { continue }
      let map = file.map.map { " read with the map '\($0.map.name.split(separator: "/").last ?? "")'" } ?? ""
      lines.append("\(file.kind.name)\(map): \(trial.words)")
      // A run reports the ignored fields of records in its own format separately.
      if file.map != nil { lines += trial.guardWords.map { "  \($0)" } }
      guard request.mode.isDryRun else { continue }
      for words in trial.emptyKeys where trial.accepted > 0 {
        let finding = FindingCause(
          isWarning: true, reason: "empty-field", detail: words, file: first.original, line: 0)
        outcome.findings.warnings += 1
        outcome.findings.first.append(finding)
        outcome.findings.causes.append(finding)
      }
    }
    outcome.report.inputs = lines
  }
}
