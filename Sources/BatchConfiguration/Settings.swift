package import BatchFoundation
package import BatchWire

/// The resolved configuration, validated and typed, as every stage receives it. The rows of ``SettingsSchema`` define
/// meaning, default and limits; the values here are placeholders until the rows' values are stored. Names of columns,
/// parameters and attributes are plain strings.
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
  package var storage = StorageSettings()
  package var privacy = Privacy()
  package var report = Report()
  package var deepLinks = DeepLinks()
  package var deltaDNA = DeltaDNA()
  package var unity = Unity()
  package var sandbox = Sandbox()

  package init() {}

  package struct Networking: Sendable, Hashable {
    package var maxRetries = 0
    package var retryDelay = Milliseconds.zero
    package var maxRetryDelay = Milliseconds.zero
    package var retryBudget = 0
    package var breakerFailures = 0
  }

  package struct EventStore: Sendable, Hashable {
    package var daysToKeep = 0
    package var digestDays = 0
    package var deviceDays = 0
  }

  package struct Connection: Sendable, Hashable {
    /// The URL without a slash at its end; nil if no service is named.
    package var baseURL: String?
    package var clientId: Secret?
    package var clientSecret: Secret?
    package var refreshToken: Secret?
    package var oauthPath = ""
    package var xmlapiPath = ""
    package var eventsPath = ""
    package var eventErrorsPath = ""
    package var caFile: String?
    package var idleTimeout = Milliseconds.zero
    package var proxy: String?
    package var proxyCredentials: Secret?
    package var connectTimeout = Milliseconds.zero
    package var totalTimeout = Milliseconds.zero
    package var minimumRate = 0
    package var maxResponseBytes = 0
    package var tokenRefreshMargin = Milliseconds.zero
  }

  package struct Upload: Sendable, Hashable {
    package var maxEventsPerRequest = 0
    package var maxBytesPerRequest = 0
    package var concurrency = 0
    package var onUnknown = UnknownOutcomePolicy.resend
    package var patience = Milliseconds.zero
    package var patienceAtStart = Milliseconds.zero
    package var maxCallsPerHour = 0
    package var maxTokensPerHour = 0
  }

  package struct Ingest: Sendable, Hashable {
    package var maxLineBytes = 0
    package var memoryLimit = 0
    package var workers = 0
    package var rewind = Milliseconds.zero
    package var lateRecords = LateRecordPolicy.accept
    package var quarantineLimit = 0
  }

  /// The attributes that are left out, masked or hashed.
  package struct Privacy: Sendable, Hashable {
    package var leftOut: [String] = []
    package var masked: [String] = []
    package var hashed: [String] = []
    package var hashKey: Secret?
  }

  package struct Report: Sendable, Hashable {
    package var personalData = PersonalDataPolicy.hash
    package var mode = ReportMode.owner
    /// The address of a webhook, which often contains a key.
    package var alarm: Secret?
    package var alarmForm = AlarmForm.json
    /// The program that is notified, with its arguments; empty for none.
    package var alarmCommand: [String] = []
    package var usualRuns = 7
    package var usualFactor = 3
  }
}

/// The permissions of reports: readable by the owner only, or also by the group.
package enum ReportMode: String, CaseIterable, Sendable {
  case owner = "0600"
  case group = "0640"
}

/// The treatment of consent records in a job for Engage.
package enum ConsentRecords: String, CaseIterable, Sendable {
  case ignore, apply
}

/// An augmentation plug-in, by its class name in configurations of either SDK (reference events 5.4).
package enum AugmentationPluginClass: String, Sendable {
  case coordinates = "UBFCoordinatesAugmentationPlugin"
  /// The address of the place, synchronous as on iOS.
  case placemark = "UBFPlacemarkAugmentationPlugin"
  /// The address of the place, asynchronous as on Android.
  case address = "UBFAddressAugmentationPlugin"
  case locationName = "UBFLocationNameAugmentationPlugin"
  case lookupTables = "LookupTableAugmentationPlugin"

  /// - Parameter name: with or without its package, as in `com.example.UBFAddressAugmentationPlugin`.
  init?(name: String) { self.init(rawValue: name.split(separator: ".").last.map(String.init) ?? name) }
}
