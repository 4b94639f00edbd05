package import BatchFoundation

/// What Engage's files, rules, recipients and sandbox are told.
///
/// What stands here before a configuration is read is empty; the defaults stand in `SettingsSchema+Engage`.
extension Settings {
  package struct General: Sendable, Hashable {
    /// The marketing database; empty when none is named.
    package var listId = ""
    /// Ready events at which a phone posts.
    package var flushSize = 0
    package var eventCodes = EventCodes.engageSDK
    /// Nil checks nothing.
    package var eventSchema: String?
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

  /// Names of the attributes that events carry.
  package struct AttributeNames: Sendable, Hashable {
    private var names = [String](repeating: "", count: AutomaticField.allCases.count)

    package subscript(field: AutomaticField) -> String {
      get { names[field.rawValue] }
      set { names[field.rawValue] = newValue }
    }
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
    /// A program that adds attributes, with its arguments; empty for none.
    package var command: [String] = []
    package var commandTimeout = Milliseconds.zero
    /// Names of variables of the environment that the program gets besides the ordinary ones.
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
    /// Look-ups above which lists are exported and imported as files.
    package var bulkThreshold = 0
    /// Absolute; nil looks up and adds recipients one by one.
    package var transferFolder: String?
    package var knownToKnown = KnownToKnownPolicy.reassign
    package var sharedDevice = SharedDevicePolicy.keep
    package var onNewUserId = NewUserPolicy.person
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

  package struct DeepLinks: Sendable, Hashable {
    /// Lower-case hosts whose `https` links are routed like links of the app's own scheme; `*.` stands for all below.
    package var universalLinkDomains: [String] = []
    package var routeOrder = RouteOrderPolicy.literalFirst
  }

  package struct Sandbox: Sendable, Hashable {
    /// Absolute; nil starts the sandbox without recipients.
    package var recipients: String?
  }
}

extension Settings {
  /// The columns of the list that the program writes itself, which no record may name (reference decisions 64).
  package var reservedColumns: [String] {
    [
      recipient.mobileUserIdColumn, recipient.mergedRecipientIdColumn, recipient.mergedDateColumn,
      location.addressColumn, location.timeColumn,
    ].filter { !$0.isEmpty }
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
