package import BatchFoundation

/// The resolved configuration: what every stage receives, checked and typed.
///
/// The rows of ``SettingsSchema`` say what each value means, its default and its limits; the values here are placeholders
/// until the rows have filled them in. Names of columns, parameters and attributes are plain text.
package struct Settings: Sendable, Hashable {
  package var general = General()
  package var parameterNames = ParameterNames()
  package var session = Session()
  package var networking = Networking()
  package var attributeNames = AttributeNames()
  package var location = Location()
  package var augmentation = Augmentation()
  package var eventStore = EventStore()
  package var recipient = Recipient()
  package var audit = Audit()
  package var connection = Connection()
  package var upload = Upload()
  package var ingest = Ingest()
  package var privacy = Privacy()
  package var report = Report()
  package var deepLinks = DeepLinks()
  package var deltaDNA = DeltaDNA()
  package var unity = Unity()
  package var sandbox = Sandbox()

  package init() {}

  package struct Networking: Sendable, Hashable {
    /// Counted failures of a chunk at which it may be suspected.
    package var maxRetries = 0
    /// The first back-off; it doubles up to `maxRetryDelay`, with full jitter.
    package var retryDelay = Milliseconds.zero
    package var maxRetryDelay = Milliseconds.zero
    /// Repeated requests that one run may make in all.
    package var retryBudget = 0
    /// Failures in a row after which nothing more is sent in this run.
    package var breakerFailures = 0
    /// Without effect: a run that stopped sending ends.
    package var breakerPause = Milliseconds.zero
  }

  package struct EventStore: Sendable, Hashable {
    /// Posted events older than this many days may be purged.
    package var daysToKeep = 0
    /// The same for digests of processed lines, and for states of devices without records; 0 keeps them.
    package var digestDays = 0
    package var deviceDays = 0
  }

  package struct Connection: Sendable, Hashable {
    /// Without a slash at its end; nil when no service is named.
    package var baseURL: String?
    package var clientId: Secret?
    package var clientSecret: Secret?
    package var refreshToken: Secret?
    package var oauthPath = ""
    package var xmlapiPath = ""
    package var eventsPath = ""
    package var eventErrorsPath = ""
    /// A file of certificates in PEM form that are trusted besides those of the system.
    package var caFile: String?
    package var idleTimeout = Milliseconds.zero
    package var proxy: String?
    /// `user:password` for the proxy.
    package var proxyCredentials: Secret?
    package var connectTimeout = Milliseconds.zero
    package var totalTimeout = Milliseconds.zero
    /// Bytes a second below which a transfer counts as stalled; 0 switches the check off.
    package var minimumRate = 0
    package var maxResponseBytes = 0
    /// How long before its end a token is renewed.
    package var tokenRefreshMargin = Milliseconds.zero
  }

  package struct Upload: Sendable, Hashable {
    package var maxEventsPerRequest = 0
    package var maxBytesPerRequest = 0
    package var concurrency = 0
    package var onUnknown = UnknownOutcomePolicy.resend
    package var patience = Milliseconds.zero
    package var patienceAtStart = Milliseconds.zero
    /// 0 is no limit.
    package var maxCallsPerHour = 0
    package var maxTokensPerHour = 0
  }

  package struct Ingest: Sendable, Hashable {
    package var maxLineBytes = 0
    package var memoryLimit = 0
    /// 0 stands for the processors that the process may use.
    package var workers = 0
    /// How far behind what is known late records are decided in their place; zero for nowhere.
    package var rewind = Milliseconds.zero
    package var lateRecords = LateRecordPolicy.accept
    /// Bytes of quarantined lines that a store keeps.
    package var quarantineLimit = 0
  }

  /// Attributes that do not leave as they were recorded.
  package struct Privacy: Sendable, Hashable {
    package var leftOut: [String] = []
    package var masked: [String] = []
    package var hashed: [String] = []
    package var hashKey: Secret?
  }

  package struct Report: Sendable, Hashable {
    package var personalData = PersonalDataPolicy.hash
    package var mode = ReportMode.owner
    /// The address of a webhook, which often holds a key.
    package var alarm: Secret?
    package var alarmForm = AlarmForm.json
    /// A program that is told; empty for none.
    package var alarmCommand: [String] = []
    /// So many runs of the job say what is usual; 0 for none.
    package var usualRuns = 7
    package var usualFactor = 3
  }
}

/// Who may read reports besides their owner.
package enum ReportMode: String, CaseIterable, Sendable {
  case owner = "0600"
  case group = "0640"
}

/// What records of consent are to a job of Engage.
package enum ConsentRecords: String, CaseIterable, Sendable {
  case ignore, apply
}

/// A plugin by the class name that configurations of either platform give it.
package enum AugmentationPlugin: Hashable, Sendable {
  case coordinates
  /// The address of the place: synchronous as iOS's `UBFPlacemarkAugmentationPlugin`, or not as Android's
  /// `UBFAddressAugmentationPlugin` (reference events 5.4).
  case placemark(isSynchronous: Bool)
  case locationName
  /// The tables of `Augmentation.lookupTables`.
  case lookupTables
  /// A plugin that somebody added, by its class name.
  case named(String)

  /// - Parameter className: with or without the package in front, as in `com.example.UBFAddressAugmentationPlugin`.
  package init(className: String) {
    let name = className.split(separator: ".").last.map(String.init) ?? className
    switch name {
    case "UBFCoordinatesAugmentationPlugin": self = .coordinates
    case "UBFPlacemarkAugmentationPlugin": self = .placemark(isSynchronous: true)
    case "UBFAddressAugmentationPlugin": self = .placemark(isSynchronous: false)
    case "UBFLocationNameAugmentationPlugin": self = .locationName
    case "LookupTableAugmentationPlugin": self = .lookupTables
    default: self = .named(className)
    }
  }
}
