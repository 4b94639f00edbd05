package import BatchFoundation

/// What the rules need to know of the configuration; everything that could change what a record becomes.
///
/// Names are those of the wire. The texts live as long as the program's run.
package struct RuleSettings {
  /// Session.sessionLifecycleExpiration: longest inactivity that continues a session (reference events 3.3).
  package var sessionTimeout = Milliseconds(30 * 60_000)
  /// General.defaultCurrentCampaignExpiration: life of a campaign that names no expiry (reference events 2.3).
  package var defaultCampaignLife = Milliseconds(86_400_000)
  package var parameters = ParameterNames()
  package var fields = FieldNames()
  package var augmentation = AugmentationSettings()
  /// Identity is on and Recipient.enableAutoAnonymousTracking holds: devices get a mobile user id at their first record
  /// (reference decisions 6).
  package var generatesMobileUserIds = false
  /// LocationServices.enabled: the newest geocoded place of a device goes to its recipient.
  package var reportsLastLocation = true
  /// Ingest.lateRecords
  package var lateRecords = LateRecords.accept

  package init() {}
}

/// What happens to a record older than what an earlier run already processed of its device.
package enum LateRecords: Sendable {
  /// Its event goes out by its own time; sessions and campaigns are not rewound.
  case accept
  case quarantine
}

/// ParamFieldNames: keys looked for in payloads and links.
package struct ParameterNames {
  package var currentCampaign: Text = "CurrentCampaign"
  package var campaignExpiresAt: Text = "CampaignExpiresAt"
  package var campaignValidFor: Text = "CampaignValidFor"
  package var callToAction: Text = "CallToAction"
  /// Epoch seconds; still in a README of the SDKs, in no code of theirs (reference events 2.3).
  package let campaignEndTimeStamp: Text = "CampaignEndTimeStamp"
  /// Configuration keys that a README shows as names in links (reference decisions 17).
  package let expiresAtInLinks: Text = "ParamCampaignExpiresAt"
  package let validForInLinks: Text = "ParamCampaignValidFor"

  package init() {}
}

/// UBFFieldNames: names of automatic attributes on the wire.
package struct FieldNames {
  package var sessionDuration: Text = "Session Duration"
  package var tags: Text = "Tags"
  package var displayedMessage: Text = "Displayed Message"
  package var callToAction: Text = "Call To Action"
  package var eventName: Text = "Event Name"
  package var goalName: Text = "Goal Name"
  package var currentCampaign: Text = "Campaign Name"
  package var lastCampaign: Text = "Last Campaign"
  package var locationAddress: Text = "Location Address"
  package var locationName: Text = "Location Name"
  package var latitude: Text = "Latitude"
  package var longitude: Text = "Longitude"

  package init() {}
}

/// Augmentation and LocationServices (reference events 5).
package struct AugmentationSettings {
  /// Augmentation.augmentationTimeout: how long an event waits for samples.
  package var timeout = Milliseconds(15_000)
  /// LocationServices.locationCacheLifespan: how long a sample is good for.
  package var sampleLife = Milliseconds(3_600_000)
  /// In the order of Augmentation.augmentationPluginClasses; location plugins are left out when location is disabled.
  package var plugins: [any AugmentationPlugin] = [] {
    didSet {
      looksUpTables = plugins.contains { !$0.needsSamples }
      usesSamples = plugins.contains { $0.needsSamples }
    }
  }
  /// Whether a plug-in concerns devices without any sample.
  private(set) var looksUpTables = false
  /// Whether a plug-in looks at locations or placemarks at all.
  private(set) var usesSamples = false

  package init() {}
}
