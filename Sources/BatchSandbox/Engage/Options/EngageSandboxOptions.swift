/// Everything that makes one Engage sandbox differ from another. The defaults are those of the embedded `--sandbox`.
package struct EngageSandboxOptions: Sendable {
  /// Of the server around it.
  package var server = SandboxSettings()
  package var organization = OrganizationSeed()
  package var switches = SandboxSwitches()
  package var events = EventAccounting.count
  /// Holds `upload/` and `download/` in place of the SFTP server; nil keeps the files in memory.
  package var filesFolder: String?

  package init() {}
}

/// Points on which the real service is not known, or known to differ between accounts (specification sections 9 and 10).
package struct SandboxSwitches: Sendable, Equatable {
  package enum ExpiredToken: String, Sendable, CaseIterable {
    case status401, fault145, faultText, empty
  }
  package enum Spelling: String, Sendable, CaseIterable {
    /// As the specification documents each operation.
    case documented
    /// Case of SUCCESS, and CDATA or plain text, drawn from the seed.
    case random
  }

  /// nil takes any credentials.
  package var credentials: SandboxCredentials?
  package var expiredToken = ExpiredToken.status401
  package var tokenLifetimeSeconds: Int64 = 14_400
  /// How long a token call returns the token it returned before.
  package var tokenReissueSeconds: Int64 = 10_800
  /// Token calls per hour; nil is without limit.
  package var tokenCallsPerHour: Int?
  /// `expires_in` as text, as one client's parser expects it.
  package var quotesExpiresIn = false
  /// Authenticated requests at once; one more is refused.
  package var concurrencyLimit = 10
  /// The fault of a refused XMLAPI request.
  package var concurrencyFault = 50
  /// The status of a refused REST request.
  package var concurrencyStatus = 503
  package var spelling = Spelling.documented
  /// The fault of UpdateRecipient for an unknown RECIPIENT_ID: 123 or 128.
  package var unknownRecipientFault = 123
  /// Whether date columns take a date with ` GMT` behind it.
  package var datesWithZone = true
  /// Unknown event codes and malformed events are answered 400, and every submission is read in full.
  package var strictEvents = false
  package var badEvents: BadEvents?
  /// An exported file ends after so many rows, although the job counts all; nil writes all.
  package var exportedRows: Int?
  /// How long a job waits, and then runs, on the sandbox's clock.
  package var jobWaitSeconds: Int64 = 10
  package var jobRunSeconds: Int64 = 15
  /// How far each GetJobStatus moves a virtual clock, so that polling comes to an end.
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

/// Which events count as bad, and how the sandbox says so.
package struct BadEvents: Sendable, Equatable {
  package enum Answer: String, Sendable, CaseIterable {
    /// 400 for the whole submission; nothing of it is applied.
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

/// How much the sandbox remembers of the events it was sent.
package enum EventAccounting: Sendable, Equatable {
  /// Their number. Memory stays the same however many come.
  case count
  /// How often each event was applied, by the digest of its bytes.
  case digests
  /// How often each event was applied, by the value of an attribute; events without it by digest.
  case attribute(String)
  /// As `digests`, and the bodies of applied submissions too.
  case bodies
}

/// What exists before the first request.
package struct OrganizationSeed: Sendable {
  package struct Column: Sendable, Equatable {
    package var name: String
    package var type: ColumnType
    /// Only for relational tables.
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
    /// Nil for one that nobody cares about.
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
  /// A recipient of the first list, or of the list named.
  package struct Recipient: Sendable {
    /// nil takes the next free id.
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
  /// Lists and tables that a request names and nobody defined are made with the columns it names; for demonstrations.
  package var createsWhatIsMissing = false

  package init() {}
}
