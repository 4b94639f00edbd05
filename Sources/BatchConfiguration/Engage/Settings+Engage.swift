package import BatchFoundation

/// The settings for Engage's files, rules, recipients and sandbox; `SettingsSchema+Engage` has the defaults.
extension Settings {
  package struct General: Sendable, Hashable {
    /// The id of the marketing database; empty if none is named.
    package var listId = ""
    package var eventCodes = EventCodes.engageSDK
    /// The path of the schema that events are validated against; nil to skip validation.
    package var eventSchema: String?
    package var campaignExpiration = Milliseconds.zero
  }

  package struct ParameterNames: Sendable, Hashable {
    package var currentCampaign = ""
    package var campaignExpiresAt = ""
    package var campaignValidFor = ""
    package var callToAction = ""
  }

  package struct Session: Sendable, Hashable {
    package var expiration = Milliseconds.zero
  }

  package struct AttributeNames: Sendable, Hashable {
    private var names = [String](repeating: "", count: AutomaticField.allCases.count)

    package subscript(field: AutomaticField) -> String {
      get { names[field.rawValue] }
      set { names[field.rawValue] = newValue }
    }
  }

  package struct Location: Sendable, Hashable {
    package var isEnabled = false
    package var dateFormat = DatePattern.none
    package var addressColumn = ""
    package var timeColumn = ""
    package var cacheLifespan = Milliseconds.zero
  }

  package struct Augmentation: Sendable, Hashable {
    package var timeout = Milliseconds.zero
    /// The plug-ins in execution order.
    package var plugins: [AugmentationPluginClass] = []
    package var lookupTables: [LookupTable] = []
    /// A program that adds attributes, and its arguments; empty for none.
    package var command: [String] = []
    package var commandTimeout = Milliseconds.zero
    package var commandVariables: [String] = []
  }

  package struct Recipient: Sendable, Hashable {
    package var createsAnonymousUsers = false
    package var mobileUserIdColumn = ""
    package var mergedRecipientIdColumn = ""
    package var mergedDateColumn = ""
    package var mergedDateFormat = DatePattern.none
    package var marksMergesInDatabase = false
    package var holdsEventsUntilIdentified = false
    package var consentRecords = ConsentRecords.ignore
    package var sendsContactIdInHeader = false
    package var bulkThreshold = 0
    /// The absolute path of the folder for bulk imports and exports; if nil, recipients are looked up and added one by
    /// one.
    package var transferFolder: String?
    package var knownToKnown = KnownToKnownPolicy.reassign
    package var sharedDevice = SharedDevicePolicy.keep
    package var onNewUserId = NewUserPolicy.person
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

  package struct DeepLinks: Sendable, Hashable {
    /// Lowercase hosts whose `https` links are routed like the app's own; `*.` includes all subdomains.
    package var universalLinkDomains: [String] = []
    package var routeOrder = RouteOrderPolicy.literalFirst
  }

  package struct Sandbox: Sendable, Hashable {
    /// The absolute path of the file of recipients; nil starts the sandbox without recipients.
    package var recipients: String?
  }

  /// The columns of the list that the program itself writes, which records must not name (reference decisions 64).
  package var reservedColumns: [String] {
    [
      recipient.mobileUserIdColumn, recipient.mergedRecipientIdColumn, recipient.mergedDateColumn,
      location.addressColumn, location.timeColumn,
    ].filter { !$0.isEmpty }
  }
}
