import BatchConfiguration
import BatchFoundation
import EngageRules

extension RuleSettings {
  /// - Parameters:
  ///   - identity: whether the job reconciles identities.
  ///   - lookups: the tables of Augmentation.lookupTables, loaded.
  ///   - arena: memory for the names; lives as long as the settings.
  init(_ settings: Settings, identity: Bool, lookups: [LookupTablePlugin], in arena: Arena) {
    self.init()
    sessionTimeout = settings.session.expiration
    defaultCampaignLife = settings.general.campaignExpiration
    parameters.currentCampaign = arena.text(settings.parameterNames.currentCampaign)
    parameters.campaignExpiresAt = arena.text(settings.parameterNames.campaignExpiresAt)
    parameters.campaignValidFor = arena.text(settings.parameterNames.campaignValidFor)
    parameters.callToAction = arena.text(settings.parameterNames.callToAction)
    let names = settings.attributeNames
    fields.sessionDuration = arena.text(names.sessionDuration)
    fields.tags = arena.text(names.tags)
    fields.displayedMessage = arena.text(names.displayedMessage)
    fields.callToAction = arena.text(names.callToAction)
    fields.eventName = arena.text(names.eventName)
    fields.goalName = arena.text(names.goalName)
    fields.currentCampaign = arena.text(names.currentCampaign)
    fields.lastCampaign = arena.text(names.lastCampaign)
    fields.locationAddress = arena.text(names.locationAddress)
    fields.locationName = arena.text(names.locationName)
    fields.latitude = arena.text(names.latitude)
    fields.longitude = arena.text(names.longitude)
    augmentation.timeout = settings.augmentation.timeout
    augmentation.sampleLife = settings.location.cacheLifespan
    augmentation.plugins = Self.plugins(settings, lookups)
    reportsLastLocation = settings.location.isEnabled
    generatesMobileUserIds = identity && settings.recipient.createsAnonymousUsers
    lateRecords = settings.ingest.lateRecords == .quarantine ? .quarantine : .accept
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
