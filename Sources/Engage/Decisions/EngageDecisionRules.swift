import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchStore
import EngageRules
import EventSchemas

struct EngageDecisionRules: DecisionRules {
  /// The settings of the rules, with their names in ``names``.
  let rules: RuleSettings
  // Only read after the start.
  nonisolated(unsafe) let names: Arena
  let links: DeepLinkRouter
  /// The program that adds attributes last; nil for none.
  let program: LineProgram.Command?
  /// The schema of events; nil if they are not checked.
  let schema: EventSchema?
  /// The destination of findings, if any.
  let findings: OrderedLines?

  /// - Throws: ``FileError`` or ``ConfigurationErrors`` for bad settings, routes, look-up tables, programs or schemas.
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

  /// Rejects the withholding of core attributes, which say what an event is.
  ///
  /// - Throws: `ConfigurationErrors`.
  private static func checkPrivacy(_ run: RunContext) throws {
    let privacy = run.settings.privacy
    let faults = [("leaveOut", privacy.leftOut), ("mask", privacy.masked), ("hash", privacy.hashed)].flatMap {
      key, names in
      names.compactMap { name -> ConfigurationFault? in
        guard CoreAttribute.names.contains(where: { $0.description.utf8.elementsEqual(name.utf8) }) else { return nil }
        return ConfigurationFault(
          Place(run.job.file), "'Privacy.\(key)' names '\(name)', a core attribute, which every event carries")
      }
    }
    guard faults.isEmpty else { throw ConfigurationErrors(faults) }
  }

  func makeDecider(_ options: DeciderOptions) -> any DeviceDecider { EngageDecider(self, options) }

  /// The time for which events wait for a sample.
  var lookback: Milliseconds { rules.augmentation.usesSamples ? rules.augmentation.timeout : .zero }

  var longestSilence: Milliseconds { rules.sessionTimeout }

  func decided(of device: StoredDevice, known: Instant?) throws -> DecidedTime? {
    try unsafe device.state.withUnsafeBytes { try unsafe DeviceState(decoding: $0).decided }
  }
}

extension DeviceState {
  /// The time up to which the device was processed; nil without records.
  var decided: DecidedTime? {
    lastSeen.map {
      DecidedTime(
        newest: $0, lastKind, lastSource, end: decidedUntil ?? $0, silence: otherSilence, settled: openUntil)
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
