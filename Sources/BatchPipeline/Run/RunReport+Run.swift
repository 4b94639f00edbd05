import BatchConfiguration
package import BatchDelivery
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

extension RunReport {
  /// Creates the report for a run before its first stage.
  init(_ request: RunRequest) {
    self.init(
      job: request.job.name, jobFile: request.job.file, destination: request.platform.name, startedAt: request.now,
      asOf: request.asOf)
    mode =
      switch request.mode {
      case .run, .stream, .replay: .run
      case .noUpload: .noUpload
      case .post: .post
      case .dryRun: .dryRun
      }
    from = request.job.window.from
    to = request.job.window.to
    zone = request.shownZone
    usesSandbox = request.usesSandbox
    invocation = request.invocation
    store = request.mode.isDryRun ? nil : request.storePath
    configuration = ConfigurationOrigin(layers: request.configurationLayers, digest: request.configurationDigest)
    configuration.settings = request.loaded.configuration.shownSettings { $0.given.layer != .defaults }
    personalData = request.settings.report.personalData
  }

  /// Adds the results of the local stage.
  ///
  /// - Parameter dictionary: the known fields, for suggestions about quarantined lines.
  mutating func add(
    _ local: ProcessingResult, _ files: InputFiles, _ lines: [QuarantinedLine], _ dictionary: FieldDictionary,
    _ personal: PersonalData
  ) {
    let counts = local.ingest.counts
    summary.records = RunSummary.Records(counts)
    let isMapped = !counts.leftOut.isEmpty || files.files.contains { $0.map != nil }
    summary.records.leftOut = isMapped ? counts.leftOut : nil
    summary.quarantineReasons = counts.reasons
    outOfWindow = counts.outOfWindowSpan
    quarantinedEvents = local.tally.quarantinedEvents
    summary.setEvents(local.tally.events)
    activity = local.tally.activity
    summary.people = local.tally.people
    quarantine = lines.map { line in
      var sample = QuarantineSample(line, personal)
      let detail = LineDiagnosis(line, dictionary).detail
      if !detail.isIdentical(to: line.detail) { sample.detail = detail }
      return sample
    }
    unknownFields = local.ingest.unknownFields
    warnings = local.tally.warnings.map { kind, tally in
      WarningTally(
        kind: kind, occurrences: tally.occurrences,
        first: tally.examples.lazy.compactMap { example in
          // Records from files that this run did not read were only processed again, so their warnings are not
          // repeated.
          guard let source = files.source(of: example.position) else { return nil }
          return WarningTally.Place(
            device: personal.id(example.device), file: source.file, line: source.line, detail: example.detail)
        }.prefix(5).map { $0 })
    }.sorted { $0.kind < $1.kind }
  }
}

extension RunSummary.Records {
  /// Creates the counts, except ``leftOut``.
  init(_ counts: IngestCounts) {
    self.init()
    (read, accepted, duplicates) = (counts.read, counts.accepted, counts.duplicates)
    (outOfWindow, forgotten, quarantined) = (counts.outOfWindow, counts.forgotten, counts.quarantined)
  }
}

extension RunRequest {
  /// The zone of the job for reports, with the transitions of the years around this run; nil for UTC.
  var shownZone: Zone? {
    guard job.zone != .utc else { return nil }
    let years = 5 * 366 * DaySpans.day
    return job.zone.limited(to: asOf + Milliseconds(-years)...asOf + Milliseconds(years))
  }

  /// The sources of the configuration, in the order of application; empty layers are omitted.
  var configurationLayers: [String] {
    let given = loaded.configuration.resolved.flatMap(\.chain)
    return ["built-in defaults"]
      + Layer.allCases.dropFirst().flatMap { layer in
        switch layer {
        case .defaults: [String]()
        case .file: job.configuration
        case .job: given.contains { $0.layer == layer } ? ["settings of \(job.file)"] : []
        case .profile: job.profile.map { ["profile '\($0)' of \(job.file)"] } ?? []
        case .environment: given.contains { $0.layer == layer } ? ["environment"] : []
        case .commandLine: given.contains { $0.layer == layer } ? ["command line"] : []
        }
      }
  }

  /// A digest that distinguishes configurations. It covers the maps and all resolved values except secrets.
  var configurationDigest: String {
    // The names of maps are left out, because parts of a run may have the maps in another folder.
    let text = loaded.configuration.text(of: Set(SettingSection.allCases)) + maps.map { "\nmap=\($0.text)" }.joined()
    return Hexadecimal.text(of: SHA256.hash(text).prefix(8))
  }
}

package struct UploadEstimate: Sendable, Equatable {
  /// The assumed duration of a request in seconds, which is typical between continents. The actual duration is not
  /// known in advance.
  package static let secondsOfRequest = 0.5

  package var events: Int
  package var requests: Int
  package var concurrency: Int
  /// The platform's other calls to its service, in words; empty if there are none.
  package var others: [String]

  package init(events: Int, requests: Int, _ delivery: DeliverySettings, others: [String] = []) {
    self.events = events
    self.requests = requests
    self.others = others
    concurrency = delivery.concurrency
  }

  private var seconds: Int {
    Int((Double(requests) * Self.secondsOfRequest / Double(max(concurrency, 1))).rounded(.up))
  }

  package var words: String {
    guard requests > 0 else { return (["a run would send no events"] + others).joined(separator: "; ") }
    let time = seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
    return
      ([
        "a run would send \(events.counted("event")) in about \(requests.counted("request"))",
        "at half a second per request, \(concurrency) at a time, that takes \(time)",
      ] + others).joined(separator: "; ")
  }
}

extension Pipeline {
  /// Reports the number of events that the simulated run would send: its new events, and those that earlier runs left
  /// unsent.
  func noteEstimate(_ local: ProcessingResult, _ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    let backlog = try storage.store?.ledger.pendingChunks() ?? (chunks: 0, events: 0)
    let estimate = UploadEstimate(
      events: local.tally.events.total + backlog.events, requests: local.tally.chunks + backlog.chunks,
      platform.deliverySettings(request.settings),
      others: platform.otherCalls(of: request.context, outcome.figures))
    outcome.report.notes.append("estimate: \(estimate.words)")
    monitor.note("Estimate: \(estimate.words)")
  }
}
