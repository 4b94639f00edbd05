package import BatchFoundation

/// What a run is to do: a job file (reference formats 1) with the command line's overrides.
package struct Job: Sendable, Hashable {
  package struct Inputs: Sendable, Hashable {
    package var events: [JobInput] = []
    package var notifications: [JobInput] = []
    package var deepLinks: [JobInput] = []

    package init() {}

    package var isEmpty: Bool { events.isEmpty && notifications.isEmpty && deepLinks.isEmpty }

    package subscript(kind: InputKind) -> [JobInput] {
      switch kind {
      case .events: events
      case .notifications: notifications
      case .deepLinks: deepLinks
      }
    }
  }

  package var name = ""
  /// The job file itself; absolute like every path here.
  package var file: String
  package var configuration: [String] = []
  package var inputs = Inputs()
  package var deepLinkRoutes: String?
  /// What ``relativeWindow`` means for this run, if the job has one.
  package var window = TimeWindow()
  /// The window as the job writes it; nil where the time of the run does not matter.
  package var relativeWindow: RelativeWindow?
  /// How far before its own window a run reads windows that were missed; nil reads none of them.
  package var catchUp: CalendarSpan?
  /// Whether runs tell which windows of the job none has read.
  package var tellsMissed = true
  /// The clock of the run; nil is the time at which it begins.
  package var asOf: Instant?
  /// The name of a platform.
  package var destination: String
  package var identity = false
  package var store: String?
  package var reports: String?
  /// The folder that takes the requests in place of the service; nil sends them.
  package var outbox: String?
  /// Files with tests of the job (`engage-batch test`).
  package var tests: [String] = []
  /// The profile that was laid over the job; nil for none.
  package var profile: String?
  /// All that it has.
  package var profiles: [JobProfile] = []

  /// - Parameter file: absolute.
  package init(file: String, destination: String) {
    self.file = file
    self.destination = destination
  }

  /// Until when a run over its window knows what devices did (reference decisions 33).
  ///
  /// - Parameter now: the time of the run.
  package func knownUntil(at now: Instant) -> Instant {
    let end = asOf ?? now
    return window.to.map { min($0, end) } ?? end
  }

  /// The folder that relative paths of the job file start from.
  package var directory: String { PathText.folder(of: file) }
}

/// What the command line changes about a job and its settings.
package struct CommandLineChanges: Sendable, Hashable {
  package var settings: [SettingOverride] = []
  package var from: Instant?
  package var to: Instant?
  package var asOf: Instant?
  /// Relative to the current directory, as are all paths of the command line.
  package var store: String?
  package var report: String?
  /// A file in place of the job's configuration files; nil leaves them.
  package var configuration: String?
  /// The profile that is laid over the job.
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
  /// A pattern of what it has on any day, and perhaps of more.
  package var anyDay: String {
    days == nil ? path : DatedPath.patterns.reduce(path) { $0.replacing($1, with: "*") }
  }
}

/// What a job or another map calls a map (reference formats 6.1).
package enum MapName {
  /// Whether the name is a path; else it is that of a preset.
  package static func isFile(_ name: String) -> Bool {
    name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
  }
}

/// An address that stands where a job names an input. Inputs are files; nothing is read over the network.
struct InputAddress {
  /// Such as `s3`.
  let scheme: String

  /// Nil for a path.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
      let first = bytes.first, Self.isLetter(first), bytes[..<colon].allSatisfy(Self.isOfScheme)
    else { return nil }
    scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
  }

  /// How its bytes come to a run all the same.
  var remedy: String {
    let program =
      switch scheme {
      case "s3": "aws s3 cp ADDRESS -"
      case "gs": "gcloud storage cat ADDRESS"
      case "http", "https": "curl -fsS ADDRESS"
      default: "PROGRAM ADDRESS"
      }
    return "copy it to a disk, or name '-' and pipe it in: \(program) | engage-batch run JOB"
  }

  private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

  private static func isOfScheme(_ byte: UInt8) -> Bool {
    isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "+-.".utf8.contains(byte)
  }
}
