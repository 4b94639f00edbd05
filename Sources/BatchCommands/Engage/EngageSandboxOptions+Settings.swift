import BatchConfiguration
import BatchPipeline
import BatchSandbox

/// The Engage endpoints before their sandbox starts.
struct EngageSandboxPart: SandboxPart {
  var options: EngageSandboxOptions
  /// Whether to create lists that calls name, because no configuration names the existing ones.
  var completes = false

  var endpoints: [SandboxEndpoint] { SandboxEndpoint.engage }

  mutating func read(_ reader: inout PlanReader) throws { try options.read(&reader) }

  func make(in server: SandboxSettings) throws -> any SandboxPlatform {
    var options = options
    if completes { options.createWhatIsMissing() }
    options.server = server
    return try EngageEndpoints(options)
  }
}

extension EngageSandboxOptions {
  /// Returns options for the in-process sandbox, with the lists, columns and tables that the configuration names.
  ///
  /// - Throws: ``MissingFileError`` or ``SandboxInputError`` for the file of recipients.
  static func embedded(for settings: Settings) throws -> EngageSandboxOptions {
    let recipient = settings.recipient
    let audit = settings.audit
    var options = try embedded(
      list: settings.general.listId,
      columns: [
        Column(recipient.mobileUserIdColumn), Column(recipient.mergedRecipientIdColumn),
        Column(recipient.mergedDateColumn, .timestamp), Column(settings.location.addressColumn),
        Column(settings.location.timeColumn, .date),
      ],
      auditTable: audit.isWritten ? audit.tableId : nil,
      auditColumns: [
        Column(audit.keyColumn, isRequired: true), Column(audit.oldRecipientIdColumn, isRequired: true),
        Column(audit.newRecipientIdColumn, isRequired: true), Column(audit.dateColumn, .timestamp, isRequired: true),
      ])
    if let path = settings.sandbox.recipients {
      do {
        options.organization.merge(try OrganizationSeed(json: InputBytes.read(path)))
      } catch let error as SandboxInputError {
        throw error.inFile(path)
      }
    }
    options.filesFolder = recipient.transferFolder
    return options
  }

  private typealias Column = OrganizationSeed.Column
}
