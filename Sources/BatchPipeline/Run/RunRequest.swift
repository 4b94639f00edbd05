package import BatchConfiguration
package import BatchFoundation
import BatchIngest
package import BatchReport
package import BatchStore
package import BatchWire

package struct RunRequest: Sendable {
  package var loaded: LoadedJob
  package let platforms: Platforms
  package let platform: any Platform
  package var mode: RunMode
  /// Whether an in-process sandbox is the destination. Such a run has a separate store next to the job's.
  package var usesSandbox = false
  /// The address of an in-process sandbox that replaces the service; nil for the real service.
  package var sandboxAddress: String?
  /// The file for canonical events, one per line; "-" is stdout; nil if not requested.
  package var eventsOut: String?
  /// The file for events with faults, one per line; "-" is stdout; nil if not requested.
  package var findingsOut: String?
  /// The file for the service's answers to questions, one per line; "-" is stdout; nil if not requested.
  package var decisionsOut: String?
  /// The file for the run's figures as one JSON object, written by the caller; "-" is stdout; nil if not requested.
  package var summaryOut: String?
  /// The file for Prometheus metrics, written by the caller; nil if not requested.
  package var metricsOut: String?
  /// The file for an OpenTelemetry trace and metrics, written by the caller; nil if not requested.
  package var otlpOut: String?
  /// The file for the outcome as JUnit XML, written by the caller; nil if not requested.
  package var junitOut: String?
  /// The device that is explained; nil if there is none.
  package var explain: String?
  /// The file for a dry run's plan of changes to the service's data; "-" is stdout; nil if not requested.
  package var planOut: String?
  /// The file with the plan that the run carries out exactly; nil if there is none.
  package var planFile: String?
  /// The number of quarantined lines and events beyond which the run ends with exit code 65; nil if there is no limit.
  package var maxQuarantine: Int?
  /// Whether anything quarantined makes the run end with exit code 65. No message is printed, because the
  /// findings already are.
  package var refusesQuarantined = false
  /// Whether figures outside the range of previous nights end the run with exit code 65, before anything is sent.
  package var failsOnUnusual = false
  /// Whether reading ends as soon as ``maxQuarantine`` is exceeded, with nothing processed.
  package var stopsEarly = false
  /// The maximum number of findings about the inputs that a dry run keeps.
  package var findingLimit = QuarantinedLines.shownWithoutStore
  /// The part that is read instead of the job's inputs; nil to read the inputs.
  var part: PartInput?
  /// Whether other runs of the same command read the inputs too.
  package var isOneOfMany = false
  /// Whether records are processed as if the job had never run, and their events are kept for examination.
  var processesAnew = false
  /// Whether the run is a test of a job. Such a run has a known time only if the job has an `asOf`.
  var isTest = false
  /// Whether the run continues without required inputs.
  package var allowsMissing = false
  /// Returns whether to continue without a usable line, because that is intended or another run of the same command has
  /// one. An error ends the run.
  package var isUsableElsewhere: @Sendable () throws -> Bool = { false }
  /// Whether inputs without usable lines are intended.
  package var allowsEmpty = false {
    didSet { if allowsEmpty { isUsableElsewhere = { true } } }
  }
  /// Whether an `asOf` far ahead of the clock is intended.
  package var allowsFuture = false
  /// The time when the run began.
  package var now: Instant
  /// The storage for inputs at addresses. It sends no request until an address is looked up.
  package let storage: ObjectStorage
  let maps: [MapDigest]

  /// - Throws: ``CommandError`` for an unknown platform.
  package init(loaded: LoadedJob, of platforms: Platforms, mode: RunMode, now: Instant) throws {
    self.loaded = loaded
    self.platforms = platforms
    platform = try platforms.platform(named: loaded.job.destination)
    self.mode = mode
    self.now = now
    maps = MapDigest.all(of: loaded.job)
    storage = ObjectStorage(loaded.configuration.settings)
  }

  package var job: Job { loaded.job }
  package var settings: Settings { loaded.configuration.settings }
  package var asOf: Instant { job.asOf ?? now }

  var context: RunContext {
    RunContext(job: job, settings: settings, mode: mode, asOf: asOf, now: now, sandboxAddress: sandboxAddress)
  }

  var vocabulary: RecordVocabulary { platforms.vocabulary(of: platform) }

  /// The window of event times that can be sent in this run; nil if all can.
  package var window: DeliveryWindow? { platform.window(settings, asOf: asOf) }

  /// The path of the run's store: the job's store, or, with `--sandbox`, one next to it (reference decisions 31).
  package var storePath: String {
    Self.storePath(of: job, inSandbox: usesSandbox && loaded.changes.store == nil)
  }

  /// Returns the path of a job's store, given or default, or of the store for its runs with `--sandbox`.
  package static func storePath(of job: Job, inSandbox: Bool = false) -> String {
    let path = job.store ?? "\(job.directory)/\(job.name).sqlite"
    return inSandbox ? PathText.withoutExtension(path) + ".sandbox.sqlite" : path
  }

  /// Returns the path of a sandbox's state file, next to the store of the runs in that sandbox.
  package static func sandboxState(beside store: String) -> String {
    let stem = PathText.withoutExtension(store)
    return stem + (stem.hasSuffix(".sandbox") ? ".json" : ".sandbox.json")
  }

  /// The command to start the run again.
  package var invocation: RunInvocation {
    var invocation = RunInvocation(jobFile: job.file)
    let changes = loaded.changes
    invocation.store = changes.store == nil ? nil : job.store
    invocation.profile = changes.profile
    invocation.report = changes.report == nil ? nil : job.reports
    (invocation.from, invocation.to, invocation.asOf) = (changes.from, changes.to, changes.asOf)
    // A relative window would be different tomorrow.
    if job.relativeWindow != nil { (invocation.from, invocation.to) = (job.window.from, job.window.to) }
    if allowsFuture { invocation.allowsFuture = true }
    invocation.usesSandbox = usesSandbox
    switch mode {
    case .noUpload: invocation.modes = ["--no-upload"]
    case .dryRun(let sends): invocation.modes = ["--dry-run"] + (sends ? [] : ["--no-upload"])
    case .run, .post, .replay, .stream: break
    }
    if allowsMissing { invocation.modes.append("--allow-missing") }
    if allowsEmpty { invocation.modes.append("--allow-empty") }
    for override in changes.settings {
      let name = "\(override.section).\(override.key)"
      let resolved = loaded.configuration.resolved(named: name)
      // If the job cannot be run, it is unknown which values are secret.
      if loaded.refusal != nil || resolved.map({ $0.setting.isSecret || $0.shown != $0.given.text }) ?? false {
        invocation.secrets.append(name)
      } else {
        invocation.settings.append("\(name)=\(override.text)")
      }
    }
    return invocation
  }

  package var storeDestination: StoreDestination {
    let destination = platform.storeDestination(settings)
    if usesSandbox { return destination.inSandbox }
    return job.outbox.map { destination.inFolder($0) } ?? destination
  }

  /// - Throws: ``ServiceSettingsError`` with every missing setting that the job's service needs.
  package func refuseMissingSettings() throws {
    if !usesSandbox { try ServiceSettingsError.refuse(platform.missingSettings(settings, for: job)) }
  }

  /// Replaces the service with a sandbox.
  package mutating func useSandbox() {
    usesSandbox = true
    platform.completeForSandbox(&loaded.configuration.settings)
  }
}

extension RunRequest {
  /// Returns the known time of the run, up to which inactivity can lead to decisions (reference decisions 33). Nil if
  /// there is none.
  ///
  /// - Parameter earlier: the known time of the store, which never moves backward; nil if there is none.
  func knownUntil(after earlier: Instant?) -> Instant? {
    if let part { return part.knownUntil }
    if isTest { return job.asOf }
    switch mode {
    case .run, .noUpload, .dryRun:
      let own = job.knownUntil(at: now)
      return earlier.map { max($0, own) } ?? own
    case .post, .replay: return earlier
    case .stream: return job.asOf
    }
  }

  /// Refuses a run that would process states far ahead of the clock.
  ///
  /// - Throws: ``CommandError`` before anything is read or written.
  func refuseFuture() throws {
    // The tolerated distance from the clock. Time zone errors are smaller.
    let margin = Milliseconds(86_400_000)
    guard mode.keeps, !usesSandbox, !allowsFuture, part == nil, asOf > now + margin else { return }
    throw CommandError(
      .configuration,
      "\(job.file.printable): error: asOf (\(asOf.rfc3339)) is more than a day ahead of the clock (\(now.rfc3339)): sessions, campaigns and holds that expire by asOf "
        + "would end for good. Nothing was read or written. Correct asOf or the clock, or add --allow-future if this is intended"
    )
  }
}
