import BatchFoundation

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

extension EngageSandboxOptions {
  /// Reads Engage's part of a fault file: switches and organization, if present (`docs/sandbox.md`).
  ///
  /// - Throws: ``SandboxInputError`` with the place in the file.
  package mutating func read(_ reader: inout PlanReader) throws {
    if let node = reader.node("switches") { try switches.read(node) }
    if let node = reader.node("organization") { organization.merge(try OrganizationSeed(node, path: "organization")) }
  }

  /// Creates lists and tables on demand, unless a list is defined.
  package mutating func createWhatIsMissing() {
    if organization.lists.isEmpty { organization.createsWhatIsMissing = true }
  }

  /// Returns the options of `run --sandbox`: any credentials, the job's list and audit table, the rest made on demand.
  ///
  /// - Parameters:
  ///   - auditColumns: the key column first; ignored without an audit table.
  ///   - seed: an organization file (`docs/sandbox.md`) with recipients to merge with; nil for none.
  /// - Throws: ``SandboxInputError`` for an invalid seed.
  package static func embedded(
    list: String, columns: [OrganizationSeed.Column], auditTable: String? = nil,
    auditColumns: [OrganizationSeed.Column] = [], seed: [UInt8]? = nil
  ) throws -> EngageSandboxOptions {
    var options = EngageSandboxOptions()
    options.organization.createsWhatIsMissing = true
    options.organization.lists = [OrganizationSeed.Table(id: list, columns: columns)]
    if let auditTable, let key = auditColumns.first {
      options.organization.tables = [
        OrganizationSeed.Table(id: auditTable, columns: auditColumns, keyColumns: [key.name])
      ]
    }
    if let seed { options.organization.merge(try OrganizationSeed(json: seed)) }
    return options
  }
}

extension OrganizationSeed {
  /// Adds the other's lists, tables and recipients; a list or table with the same id is replaced.
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
  fileprivate mutating func read(_ node: JSONNode) throws {
    var reader = try PlanReader(node, path: "switches")
    let seconds: ClosedRange<Int64> = 0...1_000_000_000
    if let form = try reader.choice("expiredToken", of: ExpiredToken.self) { expiredToken = form }
    if let clientID = try reader.string("clientId") {
      guard let secret = try reader.string("secret"), let refresh = try reader.string("refreshToken") else {
        throw reader.error("clientId", "needs secret and refreshToken as well")
      }
      credentials = SandboxCredentials(clientID: clientID, secret: secret, refreshToken: refresh)
    }
    if let number = try reader.integer("tokenLifetimeSeconds", seconds) { tokenLifetimeSeconds = number }
    if let number = try reader.integer("tokenReissueSeconds", seconds) { tokenReissueSeconds = number }
    if let number = try reader.integer("tokenCallsPerHour", seconds) { tokenCallsPerHour = Int(number) }
    if let flag = try reader.bool("quotesExpiresIn") { quotesExpiresIn = flag }
    if let number = try reader.integer("concurrencyLimit", 1...100_000) { concurrencyLimit = Int(number) }
    if let number = try reader.integer("concurrencyFault", 0...100_000) { concurrencyFault = Int(number) }
    if let number = try reader.integer("concurrencyStatus", 100...999) { concurrencyStatus = Int(number) }
    if let spelling = try reader.choice("spelling", of: Spelling.self) { self.spelling = spelling }
    if let number = try reader.integer("unknownRecipientFault", 0...100_000) { unknownRecipientFault = Int(number) }
    if let flag = try reader.bool("datesWithZone") { datesWithZone = flag }
    if let flag = try reader.bool("strictEvents") { strictEvents = flag }
    if let node = reader.node("badEvents") {
      var bad = try PlanReader(node, path: "switches.badEvents")
      guard let attribute = try bad.string("attribute") else { throw bad.error("attribute", "is missing") }
      guard let value = try bad.string("value") else { throw bad.error("value", "is missing") }
      badEvents = BadEvents(
        attribute: attribute, value: value, answer: try bad.choice("answer", of: BadEvents.Answer.self) ?? .refuse)
      try bad.finish()
    }
    if let number = try reader.integer("exportedRows", 0...Int64(Int32.max)) { exportedRows = Int(number) }
    if let number = try reader.integer("jobWaitSeconds", seconds) { jobWaitSeconds = number }
    if let number = try reader.integer("jobRunSeconds", seconds) { jobRunSeconds = number }
    if let number = try reader.integer("pollAdvancesSeconds", seconds) { pollAdvancesSeconds = number }
    try reader.finish()
  }
}
