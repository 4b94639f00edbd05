package import BatchConfiguration
package import BatchFoundation
package import EngageRules

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

  private static func plugins(_ settings: Settings, _ lookups: [LookupTablePlugin]) -> [any EngageRules
    .AugmentationPlugin]
  {
    var plugins: [any EngageRules.AugmentationPlugin] = []
    var tablesArePlaced = false
    for plugin in settings.augmentation.plugins {
      switch plugin {
      case .coordinates: if settings.location.isEnabled { plugins.append(CoordinatesPlugin()) }
      case .placemark(let isSynchronous):
        if settings.location.isEnabled { plugins.append(PlacemarkPlugin(isSynchronous: isSynchronous)) }
      case .locationName: if settings.location.isEnabled { plugins.append(LocationNamePlugin()) }
      case .lookupTables:
        plugins += lookups
        tablesArePlaced = true
      case .named(let name):
        if let added = AddedPlugins.byClassName[name] { plugins.append(added) }
      }
    }
    return tablesArePlaced ? plugins : plugins + lookups
  }
}

extension WithheldAttributes {
  /// Nil if all attributes are sent unchanged.
  fileprivate init?(_ privacy: Settings.Privacy, in arena: Arena) {
    guard !(privacy.leftOut + privacy.masked + privacy.hashed).isEmpty else { return nil }
    func texts(_ names: [String]) -> Set<Text> { Set(names.map { arena.text($0) }) }
    let code = MessageAuthenticationCode(key: Array((privacy.hashKey?.reveal() ?? "").utf8))
    self.init(leftOut: texts(privacy.leftOut), masked: texts(privacy.masked), hashed: texts(privacy.hashed)) {
      $1.text(Hexadecimal.text(of: code.code(for: Array($0))))
    }
  }
}
