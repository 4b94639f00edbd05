import BatchFoundation

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
        throw reader.error("clientId", "needs secret and refreshToken beside it")
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
