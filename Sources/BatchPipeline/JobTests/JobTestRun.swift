package import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchIngest
import BatchReport

package struct JobTestResult: Sendable {
  package var test: JobTest
  /// The differences from the expectation as text; empty if the test passed.
  package var differences: [String]
  /// The capabilities of the rules, and how often the test used each.
  package var coverage: [RuleCoverage]
}

/// Runs tests of a job with its rules, routes and settings, but without its inputs or store.
package struct JobTestRun {
  private let platforms: Platforms
  private let load: (CommandLineChanges) throws -> LoadedJob

  /// - Parameter load: loads the job with changes, as if they were given on the command line.
  package init(_ platforms: Platforms, load: @escaping (CommandLineChanges) throws -> LoadedJob) {
    self.platforms = platforms
    self.load = load
  }

  /// - Throws: ``FileError``, errors in the job or the test's settings, and system errors.
  package func run(_ test: JobTest) throws -> JobTestResult {
    var changes = CommandLineChanges(settings: test.settings)
    changes.asOf = test.asOf
    var loaded = try load(changes)
    let folder = try TemporaryFolder(below: IngestOptions.systemTemporaryFolder)
    loaded.job.inputs = try folder.inputs(of: test, loaded.job)
    loaded.job.window = TimeWindow()
    loaded.job.relativeWindow = nil
    var request = try RunRequest(
      loaded: loaded, of: platforms, mode: .dryRun(sends: false), now: loaded.job.asOf ?? .now)
    request.isTest = true
    // Otherwise, the events that the service accepts would depend on when the test runs.
    if loaded.job.asOf == nil, request.window != nil {
      throw FileError([
        ConfigurationFault(
          test.place,
          "neither the test nor its job has an 'asOf', which determines the events that the service accepts; add one"
        )
      ])
    }
    request.useSandbox()
    let events = try withExtendedLifetime(folder) {
      try Pipeline(request).processAnew()
    }
    let outcome = JobTestOutcome(events: events, request: request)
    var differences: [String] = []
    for expectation in JobTest.Expectation.allCases {
      guard let expected = test.expected[expectation] else { continue }
      differences += try outcome.differences(expectation, expected)
    }
    return JobTestResult(test: test, differences: differences, coverage: events.coverage)
  }
}

extension TemporaryFolder {
  /// Writes a test's records to input files for the job, one record per line. A JSON string is written as plain text.
  fileprivate func inputs(of test: JobTest, _ job: Job) throws -> Job.Inputs {
    var inputs = Job.Inputs()
    func add(_ records: [JSONNode], _ name: String, _ kind: InputKind, of entry: JobInput?) throws {
      guard !records.isEmpty else { return }
      var input = JobInput(path: path(name))
      (input.map, input.record) = (entry?.map, entry?.record)
      try OutputFile.write(records.map { ($0.string ?? $0.compactText) + "\n" }.joined(), to: input.path)
      inputs[kind].append(input)
    }
    for kind in InputKind.allCases { try add(test.records[kind] ?? [], kind.name, kind, of: nil) }
    for (number, foreign) in test.foreign.enumerated() {
      let path = PathText.resolve(foreign.entry, in: job.directory)
      let found = InputKind.allCases.lazy.compactMap { kind in
        job.inputs[kind].first { $0.path == path || $0.label == foreign.entry }.map { (kind, $0) }
      }.first
      guard let (kind, entry) = found else {
        let names = InputKind.allCases.flatMap { job.inputs[$0] }.map {
          $0.label ?? PathText.shown($0.path, from: job.directory)
        }
        let known = names.map { "'\($0)'" }.joined(separator: ", ")
        throw FileError([
          ConfigurationFault(
            foreign.place,
            "'inputs.\(foreign.entry)' is not an entry of the job, "
              + (known.isEmpty ? "which has none" : "whose entries are \(known)"))
        ])
      }
      try add(foreign.records, "entry-\(number)", kind, of: entry)
    }
    return inputs
  }
}

/// The results of a test's records, in the format of the expectations.
private struct JobTestOutcome {
  let events: ProcessedEvents
  let request: RunRequest

  func differences(_ expectation: JobTest.Expectation, _ expected: JSONNode) throws -> [String] {
    let name = expectation.rawValue
    switch expectation {
    case .events: return ListDifference(name, expected, try events.all().map(view)).lines
    case .sessions: return ListDifference(name, expected, try sessions()).lines
    case .campaigns: return ListDifference(name, expected, try campaigns()).lines
    case .requests: return ListDifference(name, expected, try requests(), isExact: true).lines
    case .quarantine:
      let reasons = events.report.summary.quarantineReasons.map { ($0.key.rawValue, $0.value) }
      return ValueDifference.of(name, expected, counts(reasons), isExact: true)
    case .warnings:
      return ValueDifference.of(
        name, expected, counts(events.report.warnings.map { ($0.kind, $0.occurrences) }), isExact: true)
    }
  }

  private func counts(_ counts: [(String, Int)]) -> JSONNode {
    .object(counts.sorted { $0.0 < $1.0 }.map { ($0.0, .number($0.1)) })
  }

  /// Returns an event with its attributes by name, in the same format for every platform.
  private func view(_ event: JSONNode) throws -> JSONNode {
    try EventDescriber(request.platform, showsContent: true).describe(Array(event.compactText.utf8)) { described in
      let columns = zip(request.platform.eventColumns, described.values).map { ($0, $1.map { JSONNode($0) }) }
      let content = described.content
      let attributes =
        content.array.map { list in
          .object(list.compactMap { pair in pair["name"]?.string.map { ($0, pair["value"] ?? .text(nil)) } })
        } ?? content
      // A platform may have a player instead of a device.
      let device = columns.first { $0.0.content == .id && $0.1?.string != nil }?.1
      return [
        "type": .text(described.type.description),
        "timestamp": columns.first { $0.0.name == "eventTimestamp" }?.1 ?? .text(nil),
        "device": device ?? .text(nil), "attributes": attributes,
      ]
    }
  }

  private func outlines() throws -> [(device: String, outline: DeviceOutline)] {
    var outlines: [(String, DeviceOutline)] = []
    try ProcessedEvents.forEachDevice(in: [events]) { device, behaviors in
      outlines.append((String(decoding: device, as: UTF8.self), behaviors[0].outline))
    }
    return outlines
  }

  private func sessions() throws -> [JSONNode] {
    try outlines().flatMap { device, outline -> [JSONNode] in
      outline.sessions.map {
        [
          "device": .text(device), "id": .text($0.id), "start": .text($0.start), "end": .text($0.end),
          "seconds": .number($0.seconds),
        ]
      }
    }
  }

  /// Returns the campaigns sorted by name, with how often each was set and expired, if the platform counts
  /// that.
  private func campaigns() throws -> [JSONNode] {
    var events: [ByteText: Int] = [:]
    for (_, outline) in try outlines() {
      for (name, count) in outline.campaigns { events[ByteText(name), default: 0] += count }
    }
    let activity = self.events.report.activity.campaigns
    for (name, _) in activity.named { events[name, default: 0] += 0 }
    return events.sorted { $0.key < $1.key }.map { name, count in
      let known = activity[name]
      return [
        "name": .text(name.string), "events": .number(count), "set": .number(known?.set.total),
        "expired": .number(known?.expired.total), "until": .text(known?.until?.rfc3339),
      ]
    }
  }

  private func requests() throws -> [JSONNode] {
    var request = request
    // Nothing is sent to this address: the service is needed only for the format of bodies.
    request.sandboxAddress = "http://127.0.0.1:9"
    return try events.bodies(form: request.platform.connect(request.context).destination.form)
  }
}
