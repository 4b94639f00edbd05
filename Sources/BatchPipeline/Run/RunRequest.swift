package import BatchConfiguration
package import BatchFoundation
import BatchIngest
package import BatchReport
package import BatchStore

/// What one run is asked to do, beyond its job.
package struct RunRequest: Sendable {
  package var loaded: LoadedJob
  package let platforms: Platforms
  /// The one that the job's destination names.
  package let platform: any Platform
  package var mode: RunMode
  /// A sandbox inside the process is the destination; it has a store of its own beside the job's.
  package var usesSandbox = false
  /// Where a sandbox inside the process listens, which takes the place of the service; nil for the real one.
  package var sandboxAddress: String?
  /// Canonical events, one a line; "-" is stdout; nil writes none.
  package var eventsOut: String?
  /// What is wrong with events, a line for each; "-" is stdout; nil writes none.
  package var findingsOut: String?
  /// What became of questions to the service, a line for each; "-" is stdout; nil writes none.
  package var decisionsOut: String?
  /// The figures of the run as one JSON object, written by whoever asks for the run; "-" is stdout; nil writes none.
  package var summaryOut: String?
  /// Figures for Prometheus, written by whoever asks for the run; nil writes none.
  package var metricsOut: String?
  /// A trace and figures for OpenTelemetry, written by whoever asks for the run; nil writes none.
  package var otlpOut: String?
  /// How the run went as JUnit XML, written by whoever asks for the run; nil writes none.
  package var junitOut: String?
  /// Device whose rules are explained; nil for none.
  package var explain: String?
  /// Where a dry run writes what would change at the service, which it reads for that; "-" is stdout; nil asks nothing.
  package var planOut: String?
  /// A plan that the run carries out exactly; nil decides by what is found.
  package var planFile: String?
  /// More quarantined lines than this end the run with exit code 65; nil is without limit.
  package var maxQuarantine: Int?
  /// Whether anything quarantined ends the run with 65, without more words: each finding is printed.
  package var refusesQuarantined = false
  /// Figures beyond the range of the nights before end the run with exit code 65, before anything is sent.
  package var failsOnUnusual = false
  /// Whether reading ends as soon as there are more quarantined lines than that, with nothing decided.
  package var stopsEarly = false
  /// Findings about the inputs that a dry run keeps.
  package var findingLimit = QuarantinedLines.shownWithoutStore
  /// What is read in place of the job's inputs; nil reads those.
  var part: PartInput?
  /// Other runs of the same command read the inputs, too.
  package var isOneOfMany = false
  /// Records are decided as if the job had never run, and their events are kept for whoever looks at them.
  var decidesAnew = false
  /// A test: nothing ends the known time but an `asOf`.
  var isTest = false
  /// The run goes on without inputs that the job requires.
  package var allowsMissing = false
  /// Asked where nothing that was read can be used, whether the run goes on all the same: it is meant, or one of several that are judged
  /// together.
  package var isUsableElsewhere: @Sendable () throws -> Bool = { false }
  /// An input of which nothing can be used is meant.
  package var allowsEmpty = false {
    didSet { if allowsEmpty { isUsableElsewhere = { true } } }
  }
  /// An `asOf` far ahead of the clock is meant.
  package var allowsFuture = false
  /// When the run began.
  package var now: Instant
  /// What the maps of the job said then.
  let maps: [MapDigest]

  /// - Throws: ``UnknownPlatformError``.
  package init(loaded: LoadedJob, of platforms: Platforms, mode: RunMode, now: Instant) throws {
    self.loaded = loaded
    self.platforms = platforms
    platform = try platforms.platform(named: loaded.job.destination)
    self.mode = mode
    self.now = now
    maps = MapDigest.all(of: loaded.job)
  }

  package var job: Job { loaded.job }
  package var settings: Settings { loaded.configuration.settings }
  package var asOf: Instant { job.asOf ?? now }

  var context: RunContext {
    RunContext(job: job, settings: settings, mode: mode, asOf: asOf, now: now, sandboxAddress: sandboxAddress)
  }

  var vocabulary: any RecordVocabulary { platforms.vocabulary(of: platform) }

  /// When events have to lie that go out in this run; nil for all.
  var window: DeliveryWindow? { platform.window(settings, asOf: asOf) }

  /// The store of the run: the job's, or with `--sandbox` one beside it (reference decisions 31).
  package var storePath: String {
    Self.storePath(of: job, inSandbox: usesSandbox && loaded.changes.store == nil)
  }

  /// The store that a job names, or the one beside it.
  ///
  /// - Parameter inSandbox: the one that runs with `--sandbox` keep.
  package static func storePath(of job: Job, inSandbox: Bool = false) -> String {
    let path = job.store ?? "\(job.directory)/\(job.name).sqlite"
    return inSandbox ? PathText.withoutExtension(path) + ".sandbox.sqlite" : path
  }

  /// The file in which a sandbox keeps what it holds, beside the store that was filled from it.
  package static func sandboxState(beside store: String) -> String {
    let stem = PathText.withoutExtension(store)
    return stem + (stem.hasSuffix(".sandbox") ? ".json" : ".sandbox.json")
  }

  /// How to start it again.
  package var invocation: RunInvocation {
    var invocation = RunInvocation(jobFile: job.file)
    let changes = loaded.changes
    invocation.store = changes.store == nil ? nil : job.store
    invocation.profile = changes.profile
    invocation.report = changes.report == nil ? nil : job.reports
    (invocation.from, invocation.to, invocation.asOf) = (changes.from, changes.to, changes.asOf)
    // Tomorrow the job means another window.
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
      // Of a job that cannot be run, nobody knows which values hold a secret.
      if loaded.refusal != nil || resolved.map({ $0.setting.isSecret || $0.shown != $0.value.text }) ?? false {
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

  /// - Throws: ``ServiceSettingsError`` with every setting that the service of the job has to be told, and is not.
  package func refuseMissingSettings() throws {
    if !usesSandbox { try ServiceSettingsError.refuse(platform.missingSettings(settings, for: job)) }
  }

  /// Lets a sandbox stand in for the service.
  package mutating func useSandbox() {
    usesSandbox = true
    platform.completeForSandbox(&loaded.configuration.settings)
  }
}
