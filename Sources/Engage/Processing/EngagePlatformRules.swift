package import BatchConfiguration
package import BatchFoundation
import BatchPipeline
import BatchStore
package import EngageRules
import EventSchemas

struct EngagePlatformRules: PlatformRules {
  /// The settings of the rules; the memory of ``names`` contains their names.
  let rules: RuleSettings
  // Only read after initialization.
  nonisolated(unsafe) let names: Arena
  let links: DeepLinkRouter
  /// The program that adds attributes after all plug-ins; nil for none.
  let program: LineProgram.Command?
  /// The schema of events; nil if they are not checked.
  let schema: EventSchema?
  /// The output for findings; nil if they are not written.
  let findings: OrderedLines?

  /// - Throws: ``FileError`` or ``ConfigurationErrors`` for invalid settings, routes, look-up tables, programs or
  ///   schemas.
  init(_ run: RunContext) throws {
    unsafe names = Arena()
    try Self.checkPrivacy(run)
    let lookups = try run.settings.augmentation.lookupTables.map { table in
      LookupTablePlugin(
        key: table.keyAttribute, attributes: table.columns.map(\.attribute),
        rows: try table.rows(shownFrom: run.job.directory))
    }
    rules = unsafe RuleSettings(run.settings, identity: run.job.identity, lookups: lookups, in: names)
    links = try DeepLinkRouter(run)
    program = try LineProgram.Command.augmenting(run.job, run.settings.augmentation)
    schema = try Self.schema(of: run)
    findings = run.findings
  }

  static func schema(of run: RunContext) throws -> EventSchema? {
    try run.settings.general.eventSchema.map { try EventSchema.read(InputBytes.read($0), name: $0, of: .app) }
  }

  /// Rejects privacy settings that withhold core attributes, which every event must carry.
  ///
  /// - Throws: `ConfigurationErrors`.
  private static func checkPrivacy(_ run: RunContext) throws {
    let privacy = run.settings.privacy
    let faults = [("leaveOut", privacy.leftOut), ("mask", privacy.masked), ("hash", privacy.hashed)].flatMap {
      key, names in
      names.compactMap { name -> ConfigurationFault? in
        guard CoreAttribute.names.contains(where: { $0.description.utf8.elementsEqual(name.utf8) }) else { return nil }
        return ConfigurationFault(
          Place(run.job.file), "'Privacy.\(key)' cannot name '\(name)', a core attribute that every event must carry")
      }
    }
    guard faults.isEmpty else { throw ConfigurationErrors(faults) }
  }

  func makeDecider(_ options: DeciderOptions) -> any DeviceDecider { EngageDecider(self, options) }

  /// The maximum time for which events are held for a sample; zero if no plug-in uses samples.
  var lookback: Milliseconds { rules.augmentation.usesSamples ? rules.augmentation.timeout : .zero }

  var longestSilence: Milliseconds { rules.sessionTimeout }

  func processedTime(of device: StoredDevice, known: Instant?) throws -> ProcessedTime? {
    try unsafe device.state.withUnsafeBytes { try unsafe DeviceState(decoding: $0).processedTime }
  }
}

extension DeviceState {
  /// The time up to which the device was processed; nil if it has no records.
  var processedTime: ProcessedTime? {
    lastSeen.map {
      ProcessedTime(
        newest: $0, lastKind, lastSource, end: processedUntil ?? $0, silence: otherSilence, settled: openUntil)
    }
  }
}

extension DeepLinkRouter {
  init(_ run: RunContext) throws {
    let options = LinkOptions(
      routeOrder: run.settings.deepLinks.routeOrder,
      ownDomains: run.settings.deepLinks.universalLinkDomains)
    let routes = try run.job.deepLinkRoutes.map { path in
      try RouteFile.read(InputBytes.read(path), name: path)
    }
    self.init(routes: routes, options: options)
  }
}

extension RuleSettings {
  /// - Parameters:
  ///   - identity: Whether the job reconciles identities.
  ///   - lookups: The loaded tables of `Augmentation.lookupTables`.
  ///   - arena: The memory for the names; must outlive the settings.
  package init(_ settings: Settings, identity: Bool, lookups: [LookupTablePlugin], in arena: Arena) {
    self.init(codes: CodeTable(settings.general.eventCodes) { arena.text($0) })
    let names = settings.parameterNames
    sessionTimeout = settings.session.expiration
    defaultCampaignLife = settings.general.campaignExpiration
    parameters.currentCampaign = arena.text(names.currentCampaign)
    parameters.campaignExpiresAt = arena.text(names.campaignExpiresAt)
    parameters.campaignValidFor = arena.text(names.campaignValidFor)
    parameters.callToAction = arena.text(names.callToAction)
    fields = FieldNames { arena.text(settings.attributeNames[$0]) }
    augmentation.timeout = settings.augmentation.timeout
    augmentation.sampleLife = settings.location.cacheLifespan
    augmentation.plugins = Self.plugins(settings, lookups)
    generatesMobileUserIds = identity && settings.recipient.createsAnonymousUsers
    reportsLastLocation = settings.location.isEnabled
    lateRecords = settings.ingest.lateRecords
    appliesConsent = settings.recipient.consentRecords == .apply
    reconcilesIdentities = identity
    reservedColumns = Set(settings.reservedColumns.map { FoldedText($0) })
    withheld = WithheldAttributes(settings.privacy, in: arena)
  }

  private static func plugins(_ settings: Settings, _ lookups: [LookupTablePlugin]) -> [any AugmentationPlugin] {
    let names = settings.augmentation.plugins
    return (names.contains(.lookupTables) ? names : names + [.lookupTables]).flatMap {
      name -> [any AugmentationPlugin] in
      switch name {
      case .lookupTables: lookups
      case _ where !settings.location.isEnabled: []
      case .coordinates: [CoordinatesPlugin()]
      case .placemark: [PlacemarkPlugin.address(isSynchronous: true)]
      case .address: [PlacemarkPlugin.address(isSynchronous: false)]
      case .locationName: [PlacemarkPlugin.name]
      }
    }
  }
}

extension WithheldAttributes {
  /// Returns nil if all attributes are sent unchanged.
  fileprivate init?(_ privacy: Settings.Privacy, in arena: Arena) {
    guard !(privacy.leftOut + privacy.masked + privacy.hashed).isEmpty else { return nil }
    func texts(_ names: [String]) -> Set<Text> { Set(names.map { arena.text($0) }) }
    let code = MessageAuthenticationCode(key: Array((privacy.hashKey?.reveal() ?? "").utf8))
    self.init(leftOut: texts(privacy.leftOut), masked: texts(privacy.masked), hashed: texts(privacy.hashed)) {
      $1.text(Hexadecimal.text(of: code.code(for: Array($0))))
    }
  }
}

/// Checks events against the job's schema (`General.eventSchema`). Not thread-safe: each worker has its own instance.
final class EventChecks {
  private var checker: AttributeChecker
  /// The attributes whose values name an event; ``namingCore`` contains the core attributes among them.
  private let naming: [Text]
  private let namingCore: [CoreAttribute]

  var coverage: SchemaCoverage { checker.coverage }

  /// - Parameter naming: The attributes whose values name an event, in memory that outlives the checks.
  init(_ schema: EventSchema, naming: [Text]) {
    checker = AttributeChecker(schema)
    self.naming = naming
    namingCore = CoreAttribute.allCases.filter { naming.contains($0.name) }
  }

  func findings(of event: Event) -> [EventFinding] {
    let attributes = unsafe event.attributes.map { (name: $0.name, value: $0.value) }
    return Array(name(of: event).utf8).withText {
      checker.findings(ofEvent: [$0, event.code], attributes)
    }
  }

  /// Returns the code, followed by the event's name if it has one, as in `17 checkout`.
  func name(of event: Event) -> String {
    let core = unsafe event.core.pointee
    let named =
      unsafe namingCore.map { core[$0] }.first { !$0.isEmpty }
      ?? event.attributes.first { naming.contains($0.name) && !$0.value.isEmpty }?.value
    return named.map { "\(event.code) \($0)" } ?? event.code.description
  }
}

extension Event {
  /// The event as shown in a line of `--findings-out`.
  var shown: JSONNode {
    [
      "eventTypeCode": .text(code.description), "device": .text(device.description),
      "eventTimestamp": .text(timestamp.rfc3339),
    ]
  }
}
