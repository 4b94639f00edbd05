/// The options of one Engage sandbox. The defaults are those of the embedded `--sandbox`.
package struct EngageSandboxOptions: Sendable {
  package var server = SandboxSettings()
  package var organization = OrganizationSeed()
  package var switches = SandboxSwitches()
  package var events = EventAccounting.count
  /// The folder with `upload/` and `download/` in place of the SFTP server; nil keeps the files in memory.
  package var filesFolder: String?

  package init() {}
}

/// Choices where the real service is unknown or differs between accounts (specification sections 9 and 10).
package struct SandboxSwitches: Sendable, Equatable {
  package enum ExpiredToken: String, Sendable, CaseIterable {
    case status401, fault145, faultText, empty
  }
  package enum Spelling: String, Sendable, CaseIterable {
    /// The spelling that the specification documents for each operation.
    case documented
    /// The case of SUCCESS, and CDATA or plain text, drawn from the seed.
    case random
  }

  /// Nil accepts any credentials.
  package var credentials: SandboxCredentials?
  package var expiredToken = ExpiredToken.status401
  package var tokenLifetimeSeconds: Int64 = 14_400
  /// How long a token call returns the previous token.
  package var tokenReissueSeconds: Int64 = 10_800
  /// The most token calls per hour; nil for no limit.
  package var tokenCallsPerHour: Int?
  /// Whether `expires_in` is text, as one client's parser expects.
  package var quotesExpiresIn = false
  /// The most concurrent authenticated requests; one more is refused.
  package var concurrencyLimit = 10
  /// The fault of a refused XMLAPI request.
  package var concurrencyFault = 50
  /// The status of a refused REST request.
  package var concurrencyStatus = 503
  package var spelling = Spelling.documented
  /// The fault of UpdateRecipient for an unknown RECIPIENT_ID: 123 or 128.
  package var unknownRecipientFault = 123
  /// Whether date columns accept a date followed by ` GMT`.
  package var datesWithZone = true
  /// Whether unknown codes and malformed events are answered 400; every submission is then read in full.
  package var strictEvents = false
  package var badEvents: BadEvents?
  /// The number of rows after which an exported file ends, although the job counts all; nil writes all.
  package var exportedRows: Int?
  /// How long a job waits, and then runs, on the sandbox's clock.
  package var jobWaitSeconds: Int64 = 10
  package var jobRunSeconds: Int64 = 15
  /// How far each GetJobStatus advances a virtual clock, so that polling ends.
  package var pollAdvancesSeconds: Int64 = 15

  package init() {}
}

package struct SandboxCredentials: Sendable, Equatable {
  package var clientID: String
  package var secret: String
  package var refreshToken: String

  package init(clientID: String, secret: String, refreshToken: String) {
    self.clientID = clientID
    self.secret = secret
    self.refreshToken = refreshToken
  }
}

/// The events that count as bad, and how the sandbox refuses them.
package struct BadEvents: Sendable, Equatable {
  package enum Answer: String, Sendable, CaseIterable {
    /// 400 for the whole submission; none of it is applied.
    case refuse
    /// 201; the bad ones are listed by `/rest/events/errors` and not counted as applied.
    case list
  }

  package var attribute: String
  package var value: String
  package var answer: Answer

  package init(attribute: String, value: String, answer: Answer = .refuse) {
    self.attribute = attribute
    self.value = value
    self.answer = answer
  }
}

/// The amount of data kept of the events received.
package enum EventAccounting: Sendable, Equatable {
  /// Their number, in constant memory.
  case count
  /// How often each event was applied, by the digest of its bytes.
  case digests
  /// How often each event was applied, by the value of an attribute; events without it by digest.
  case attribute(String)
  /// Like `digests`, and also the bodies of applied submissions.
  case bodies
}

/// The data that exists before the first request.
package struct OrganizationSeed: Sendable {
  package struct Column: Sendable, Equatable {
    package var name: String
    package var type: ColumnType
    /// For relational tables only.
    package var isRequired: Bool

    package init(_ name: String, _ type: ColumnType = .text, isRequired: Bool = false) {
      self.name = name
      self.type = type
      self.isRequired = isRequired
    }
  }
  /// A database of recipients, or a relational table.
  package struct Table: Sendable {
    package var id: String
    /// Nil for a default name.
    package var name: String?
    package var columns: [Column]
    /// Empty for a flexible database.
    package var keyColumns: [String]

    package init(id: String, name: String? = nil, columns: [Column], keyColumns: [String] = []) {
      self.id = id
      self.name = name
      self.columns = columns
      self.keyColumns = keyColumns
    }
  }
  /// A recipient of the first list, or of the named list.
  package struct Recipient: Sendable {
    /// Nil takes the next free id.
    package var id: Int64?
    package var list: String?
    package var values: [String: String]

    package init(id: Int64? = nil, list: String? = nil, values: [String: String]) {
      self.id = id
      self.list = list
      self.values = values
    }
  }

  package var lists: [Table] = []
  package var tables: [Table] = []
  package var recipients: [Recipient] = []
  /// Whether undefined lists and tables are created with the columns that a request names; for demonstrations.
  package var createsWhatIsMissing = false

  package init() {}
}
