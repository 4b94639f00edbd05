package import BatchFoundation

/// The work of a run: a job file (reference formats 1) with overrides from the command line.
package struct Job: Sendable, Hashable {
  package struct Inputs: Sendable, Hashable {
    package var events: [JobInput] = []
    package var notifications: [JobInput] = []
    package var deepLinks: [JobInput] = []

    package init() {}

    package var isEmpty: Bool { events.isEmpty && notifications.isEmpty && deepLinks.isEmpty }

    package subscript(kind: InputKind) -> [JobInput] {
      get { self[keyPath: Self.place(of: kind)] }
      set { self[keyPath: Self.place(of: kind)] = newValue }
    }

    private static func place(of kind: InputKind) -> WritableKeyPath<Inputs, [JobInput]> {
      switch kind {
      case .events: \.events
      case .notifications: \.notifications
      case .deepLinks: \.deepLinks
      }
    }
  }

  package var name = ""
  /// The path of the job file; absolute, like every path here.
  package var file: String
  package var configuration: [String] = []
  package var inputs = Inputs()
  package var deepLinkRoutes: String?
  /// The window of this run, resolved from ``relativeWindow`` if the job has one.
  package var window = TimeWindow()
  /// The window as written in the job file; nil if it does not depend on the time of the run.
  package var relativeWindow: RelativeWindow?
  /// The zone of the window, in which reports show times.
  package var zone = Zone.utc
  /// The span before a run's own window; the run also reads missed windows within it. Nil for none.
  package var catchUp: CalendarSpan?
  /// Whether runs report windows of the job that no run has read.
  package var tellsMissed = true
  /// The clock of the run; nil for its start time.
  package var asOf: Instant?
  /// The name of a platform.
  package var destination: String
  package var identity = false
  package var store: String?
  package var reports: String?
  /// The folder to which requests are written instead of being sent; nil sends them.
  package var outbox: String?
  /// Files with tests of the job (`engage-batch test`).
  package var tests: [String] = []
  /// The profile applied to the job; nil for none.
  package var profile: String?
  package var profiles: [JobProfile] = []

  /// - Parameter file: the absolute path.
  package init(file: String, destination: String) {
    self.file = file
    self.destination = destination
  }

  /// Returns the known time of a run that reads the job's window (reference decisions 33).
  ///
  /// - Parameter now: the time of the run.
  package func knownUntil(at now: Instant) -> Instant {
    let end = asOf ?? now
    return window.to.map { min($0, end) } ?? end
  }

  /// The base of the job file's relative paths.
  package var directory: String { PathText.folder(of: file) }
}

/// The command line's changes to a job and its settings.
package struct CommandLineChanges: Sendable, Hashable {
  package var settings: [SettingOverride] = []
  package var from: Instant?
  package var to: Instant?
  package var asOf: Instant?
  /// Relative to the current directory, like all paths on the command line.
  package var store: String?
  package var report: String?
  /// A file to use instead of the job's configuration files; nil keeps them.
  package var configuration: String?
  /// The profile to apply to the job.
  package var profile: String?

  package init(
    settings: [SettingOverride] = [], from: Instant? = nil, to: Instant? = nil, asOf: Instant? = nil,
    store: String? = nil, report: String? = nil, profile: String? = nil
  ) {
    self.profile = profile
    self.settings = settings
    self.from = from
    self.to = to
    self.asOf = asOf
    self.store = store
    self.report = report
  }
}

extension JobInput {
  /// A pattern that matches the files of every day, and possibly more.
  package var anyDay: String {
    days == nil ? path : DatedPath.patterns.reduce(path) { $0.replacing($1, with: "*") }
  }
}

/// The name of a map in a job or another map (reference formats 6.1).
package enum MapName {
  /// Returns whether the name is a path rather than a preset.
  package static func isFile(_ name: String) -> Bool {
    name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
  }
}
