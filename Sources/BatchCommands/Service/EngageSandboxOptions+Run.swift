import BatchConfiguration
import BatchPipeline
import BatchSandbox
import EngageSandbox
import FoundationEssentials

extension EngageSandboxOptions {
  /// The sandbox inside the process: with the lists, columns and tables that the configuration names.
  static func embedded(for settings: Settings) throws -> EngageSandboxOptions {
    let recipient = settings.recipient
    let audit = settings.audit
    let seed = try settings.sandbox.recipients.map { Array(try Data(contentsOf: URL(filePath: $0))) }
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
      ], seed: seed)
    options.filesFolder = recipient.transferFolder
    return options
  }

  /// As for the settings alone, with what the sandbox holds kept beside a store: a repeated run finds the same recipients.
  static func embedded(for settings: Settings, beside store: String, isDryRun: Bool = false) throws
    -> EngageSandboxOptions
  {
    var options = try embedded(for: settings)
    options.server.stateFile = RunRequest.sandboxState(beside: store)
    // What is left of a store that was deleted is not part of a new one.
    options.server.loadsState = FileManager.default.fileExists(atPath: store)
    options.server.savesState = !isDryRun
    return options
  }

  private typealias Column = OrganizationSeed.Column
}
