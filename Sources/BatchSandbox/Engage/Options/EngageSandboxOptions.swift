package import BatchFoundation

/// The options of one Engage sandbox. The defaults are those of the embedded `--sandbox`.
package struct EngageSandboxOptions: Sendable {
  package var server = SandboxSettings()
  package var organization = OrganizationSeed()
  package var switches = SandboxSwitches()
  package var events = EventAccounting.count
  /// The folder whose `upload/` and `download/` replace the SFTP server; nil keeps the files in memory.
  package var filesFolder: String?

  package init() {}
}

/// Choices where the real service's behavior is unknown or differs between accounts (reference identity 9).
package struct SandboxSwitches: Sendable, Equatable {
  package enum ExpiredToken: String, Sendable, CaseIterable {
    case status401, fault145, faultText, empty
  }
  package enum Spelling: String, Sendable, CaseIterable {
    /// The spelling that the specification documents for each operation.
    case documented
    /// The seed determines the case of SUCCESS, and whether text is CDATA or plain.
    case random
  }

  /// Nil accepts any credentials.
  package var credentials: SandboxCredentials?
  package var expiredToken = ExpiredToken.status401
  package var tokenLifetimeSeconds: Int64 = 14_400
  /// The time for which token calls return the same token.
  package var tokenReissueSeconds: Int64 = 10_800
  /// The maximum number of token calls per hour; nil for no limit.
  package var tokenCallsPerHour: Int?
  /// Whether `expires_in` is a string, as one client's parser expects.
  package var quotesExpiresIn = false
  /// The maximum number of concurrent authenticated requests; further ones are refused.
  package var concurrencyLimit = 10
  /// The fault for an XMLAPI request over that limit.
  package var concurrencyFault = 50
  /// The status for a REST request over that limit.
  package var concurrencyStatus = 503
  package var spelling = Spelling.documented
  /// The fault of UpdateRecipient for an unknown RECIPIENT_ID: 123 or 128.
  package var unknownRecipientFault = 123
  /// Whether date columns accept ` GMT` or ` UTC` after a date and time.
  package var datesWithZone = true
  /// Whether unknown codes and malformed events get a 400 response. Every submission is then read in full.
  package var strictEvents = false
  package var badEvents: BadEvents?
  /// The number of rows after which an exported file is truncated, although the job counts them all; nil for never.
  package var exportedRows: Int?
  /// The time that a job waits, on the sandbox's clock; `jobRunSeconds` is the time that it then runs.
  package var jobWaitSeconds: Int64 = 10
  package var jobRunSeconds: Int64 = 15
  /// The time by which each GetJobStatus advances a virtual clock, so that polling ends.
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

/// The events that the sandbox refuses, identified by an attribute's value, and how it refuses them.
package struct BadEvents: Sendable, Equatable {
  package enum Answer: String, Sendable, CaseIterable {
    /// 400 for the whole submission; none of it is applied.
    case refuse
    /// 201 for the submission; `/rest/events/errors` lists the bad events, which do not count as applied.
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

/// The data kept about received events.
package enum EventAccounting: Sendable, Equatable {
  /// Only the number of events, in constant memory.
  case count
  /// The number of times that each event was applied, by the digest of its bytes.
  case digests
  /// The number of times that each event was applied, by the value of this attribute; events without it are counted by
  /// digest.
  case attribute(String)
  /// Like `digests`, and also the bodies of applied submissions.
  case bodies
}

/// The data that exists before the first request.
package struct OrganizationSeed: Sendable {
  package struct Column: Sendable, Equatable, Codable {
    package var name: ByteText
    package var type: ColumnType
    /// For relational tables only.
    package var isRequired: Bool

    package init(_ name: String, _ type: ColumnType = .text, isRequired: Bool = false) {
      self.name = ByteText(name)
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
    /// Nil for the next free id.
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
}

extension EngageSandboxOptions {
  /// Reads Engage's part of a fault file (`docs/sandbox.md`): switches and organization, if present.
  package mutating func read(_ fields: Fields) {
    if let given = fields["switches"]?.object() { switches.read(given) }
    if let given = fields["organization"]?.object() { organization.merge(OrganizationSeed(given)) }
  }

  /// Returns the options of `run --sandbox`: any credentials, the job's list and audit table, and everything else on
  /// demand.
  ///
  /// - Parameters:
  ///   - auditColumns: the columns of the audit table, the key column first; ignored without an audit table.
  package static func embedded(
    list: String, columns: [OrganizationSeed.Column], auditTable: String? = nil,
    auditColumns: [OrganizationSeed.Column] = []
  ) -> EngageSandboxOptions {
    var options = EngageSandboxOptions()
    options.organization.createsWhatIsMissing = true
    options.organization.lists = [OrganizationSeed.Table(id: list, columns: columns)]
    if let auditTable, let key = auditColumns.first {
      options.organization.tables = [
        OrganizationSeed.Table(id: auditTable, columns: auditColumns, keyColumns: [key.name.string])
      ]
    }
    return options
  }
}

extension OrganizationSeed {
  /// Adds the lists, tables and recipients of `other`. Its lists and tables replace those with the same id.
  package mutating func merge(_ other: OrganizationSeed) {
    Self.merge(other.lists, into: &lists)
    Self.merge(other.tables, into: &tables)
    recipients += other.recipients
    createsWhatIsMissing = createsWhatIsMissing || other.createsWhatIsMissing
  }

  private static func merge(_ more: [Table], into tables: inout [Table]) {
    tables.removeAll { known in more.contains { $0.id.utf8.elementsEqual(known.id.utf8) } }
    tables += more
  }
}

extension SandboxSwitches {
  fileprivate mutating func read(_ fields: Fields) {
    let seconds: ClosedRange<Int64> = 0...1_000_000_000
    func set<Value>(_ value: inout Value, _ given: Value?) { if let given { value = given } }
    set(&expiredToken, fields["expiredToken"]?.choice(of: ExpiredToken.allCases))
    if let clientID = fields["clientId"]?.anyText() {
      if let secret = fields["secret"]?.anyText(), let refresh = fields["refreshToken"]?.anyText() {
        credentials = SandboxCredentials(clientID: clientID, secret: secret, refreshToken: refresh)
      } else {
        fields.refuse("clientId", "requires secret and refreshToken as well")
      }
    }
    set(&tokenLifetimeSeconds, fields["tokenLifetimeSeconds"]?.integer(seconds))
    set(&tokenReissueSeconds, fields["tokenReissueSeconds"]?.integer(seconds))
    set(&tokenCallsPerHour, fields["tokenCallsPerHour"]?.integer(0...1_000_000_000))
    set(&quotesExpiresIn, fields["quotesExpiresIn"]?.flag())
    set(&concurrencyLimit, fields["concurrencyLimit"]?.integer(1...100_000))
    set(&concurrencyFault, fields["concurrencyFault"]?.integer(0...100_000))
    set(&concurrencyStatus, fields["concurrencyStatus"]?.integer(100...999))
    set(&spelling, fields["spelling"]?.choice(of: Spelling.allCases))
    set(&unknownRecipientFault, fields["unknownRecipientFault"]?.integer(0...100_000))
    set(&datesWithZone, fields["datesWithZone"]?.flag())
    set(&strictEvents, fields["strictEvents"]?.flag())
    if let bad = fields["badEvents"]?.object() {
      if let attribute = bad.required("attribute")?.anyText(), let value = bad.required("value")?.anyText() {
        let answer = bad["answer"]?.choice(of: BadEvents.Answer.allCases)
        badEvents = BadEvents(attribute: attribute, value: value, answer: answer ?? .refuse)
      }
      bad.end()
    }
    set(&exportedRows, fields["exportedRows"]?.integer(0...Int(Int32.max)))
    set(&jobWaitSeconds, fields["jobWaitSeconds"]?.integer(seconds))
    set(&jobRunSeconds, fields["jobRunSeconds"]?.integer(seconds))
    set(&pollAdvancesSeconds, fields["pollAdvancesSeconds"]?.integer(seconds))
    fields.end()
  }
}
