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
  package var report = Report()
  package var deepLinks = DeepLinks()
  package var deltaDNA = DeltaDNA()
  package var sandbox = Sandbox()

  package struct General: Sendable, Hashable {
    /// The marketing database; empty when none is named.
    package var listId = ""
    /// Ready events at which a phone posts.
    package var flushSize = 0
    /// How long a campaign lives whose payload names no expiry.
    package var campaignExpiration = Milliseconds.zero
  }

  /// Names of the parameters in payloads and links.
  package struct ParameterNames: Sendable, Hashable {
    package var currentCampaign = ""
    package var campaignExpiresAt = ""
    package var campaignValidFor = ""
    package var callToAction = ""
  }

  package struct Session: Sendable, Hashable {
    /// A session ends when the app was away for longer.
    package var expiration = Milliseconds.zero
  }

  package struct Networking: Sendable, Hashable {
    /// Failed posts after which an event is `FAILED_POST`.
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

  /// Names of the attributes that events carry.
  package struct AttributeNames: Sendable, Hashable {
    package var sessionDuration = ""
    package var tags = ""
    package var displayedMessage = ""
    package var callToAction = ""
    package var eventName = ""
    package var goalName = ""
    package var currentCampaign = ""
    package var lastCampaign = ""
    package var locationAddress = ""
    package var locationName = ""
    package var latitude = ""
    package var longitude = ""
  }

  package struct Location: Sendable, Hashable {
    package var isEnabled = false
    /// How the time of the last known location is written.
    package var dateFormat = DatePattern.none
    package var addressColumn = ""
    package var timeColumn = ""
    /// How long a recorded location or placemark may be used.
    package var cacheLifespan = Milliseconds.zero
  }

  package struct Augmentation: Sendable, Hashable {
    package var timeout = Milliseconds.zero
    /// In the order in which they run.
    package var plugins: [AugmentationPlugin] = []
    package var lookupTables: [LookupTable] = []
  }

  package struct EventStore: Sendable, Hashable {
    /// Posted events older than this many days may be purged.
    package var daysToKeep = 0
  }

  package struct Recipient: Sendable, Hashable {
    package var createsAnonymousUsers = false
    package var mobileUserIdColumn = ""
    package var mergedRecipientIdColumn = ""
    package var mergedDateColumn = ""
    package var mergedDateFormat = DatePattern.none
    package var marksMergesInDatabase = false
    package var holdsEventsUntilIdentified = false
    package var sendsContactIdInHeader = false
    /// Look-ups above which lists are exported and imported as files.
    package var bulkThreshold = 0
    /// Absolute; nil looks up and adds recipients one by one.
    package var transferFolder: String?
    package var knownToKnown = KnownToKnownPolicy.reassign
    package var sharedDevice = SharedDevicePolicy.keep
    /// Steps that a chain of earlier merges is followed.
    package var longestMergeChain = 0
  }

  package struct Audit: Sendable, Hashable {
    package var isWritten = false
    package var tableId = ""
    package var keyColumn = ""
    package var oldRecipientIdColumn = ""
    package var newRecipientIdColumn = ""
    package var dateColumn = ""
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
  }

  package struct Ingest: Sendable, Hashable {
    package var maxLineBytes = 0
    package var memoryLimit = 0
    package var lateRecords = LateRecordPolicy.accept
  }

  package struct Report: Sendable, Hashable {
    package var personalData = PersonalDataPolicy.hash
  }

  package struct DeepLinks: Sendable, Hashable {
    /// Lower-case hosts whose `https` links are routed like links of the app's own scheme; `*.` stands for all below.
    package var universalLinkDomains: [String] = []
    package var routeOrder = RouteOrderPolicy.literalFirst
  }

  package struct Sandbox: Sendable, Hashable {
    /// Absolute; nil starts the sandbox without recipients.
    package var recipients: String?
  }

  package struct DeltaDNA: Sendable, Hashable {
    package var collectURL: String?
    package var engageURL: String?
    package var environmentKey: Secret?
    package var hashSecret: Secret?
    /// The Event Manager's schema that events are checked against.
    package var eventSchema: String?
    package var clientVersion: String?
    package var platform: String?
    package var maxEventsPerRequest = 0
    package var maxBytesPerRequest = 0
    /// Events older than this at the time of the run, or further ahead, are refused by the service.
    package var oldestEvent = Milliseconds.zero
    package var furthestAhead = Milliseconds.zero
    package var sendsNewPlayer = false
    package var sendsGameStarted = false
    package var sendsClientDevice = false
    package var generatesPinpointerTransactions = false
    package var runsAllTriggeredActions = false
    /// Zero never ends a session.
    package var sessionTimeout = Milliseconds.zero
    /// Zero switches the cache off.
    package var engageCacheLifespan = Milliseconds.zero
    package var maxRetries = 0
    package var retryDelay = Milliseconds.zero
    package var collectTimeout = Milliseconds.zero
    package var engageTimeout = Milliseconds.zero
    package var configTimeout = Milliseconds.zero
    package var configRetryDelayFactor = Milliseconds.zero
    package var configMaxRetries = 0
    /// Parameter of every event; not empty.
    package var sdkVersion = ""
    package var environment = Environment.live
    package var onInvalid = InvalidEvents.quarantine
    /// Members with empty text are dropped like those with null.
    package var dropsEmpty = false
    /// Stored events without session get the one at hand.
    package var fillsSessionID = false
    /// The event that a link becomes; nil for none.
    package var deepLinkEventName: String?
    /// A saved answer of Engage to `config`.
    package var sessionConfiguration: String?
    /// Requests of Collect under way at once.
    package var concurrency = 0

    package enum Environment: String, CaseIterable, Sendable {
      case live = "LIVE"
      case development = "DEV"
    }

    /// What becomes of an event with findings.
    package enum InvalidEvents: String, CaseIterable, Sendable {
      case quarantine, send
    }
  }
}

extension DatePattern {
  /// Stands where no pattern has been filled in yet; writes nothing but a hyphen.
  fileprivate static var none: DatePattern {
    do {
      return try DatePattern("-")
    } catch {
      // A hyphen is a pattern.
      preconditionFailure("\(error)")
    }
  }
}
