import BatchFoundation

/// Settings of the SDKs' configuration files (reference events 7) with the documented defaults (reference decisions 1).
extension SettingsSchema {
  static let engageRows: [Setting] = [
    generalRows, paramFieldNamesRows, sessionRows, networkingRows, ubfFieldNamesRows, locationServicesRows,
    augmentationRows, pluggableServicesRows, localEventStoreRows,
  ].flatMap { $0 }

  private static let generalRows: [Setting] = rows(
    .general,
    [
      .text(
        "databaseListId", "", .any, \.general.listId, aka: ["engageListId"],
        "Id of the marketing database whose recipients are looked up, created and merged."
      ).from("ENGAGE_LIST_ID"),
      .unused(
        "ubfEventCacheSize", 3, .integer(1...1_000_000), unit: "events",
        "Number of ready events at which a phone posts. `Upload.maxEventsPerRequest` limits a request; at its end, a run posts whatever is left."
      ),
      .duration(
        "defaultCurrentCampaignExpiration", "1 day", \.general.campaignExpiration,
        "How long a campaign stays active if its payload or link names no expiry."),
      .init(
        "eventCodes", .eventCodes, fallback: "engage-sdk", \.general.eventCodes,
        "Codes and attributes of events: those of the EngageSDKs, those that Acoustic Campaign lists for mobile apps, or your own table (docs/reference/events.md, 1.8)."
      ) { EventCodes($0) },
      .optionalText(
        "eventSchema", .file, \.general.eventSchema,
        "Event schema against which events are checked before they are sent; events that do not fit are quarantined."),
      .unused(
        "deepLinkScheme", "", .text(.any), "Scheme of the app's links on Android; links of any scheme are routed."),
    ])

  private static let paramFieldNamesRows: [Setting] = rows(
    .paramFieldNames,
    [
      .text(
        "ParamCampaignValidFor", "CampaignValidFor", .name, \.parameterNames.campaignValidFor,
        aka: ["paramCampaignValidFor"], "Parameter with the lifetime of a campaign."),
      .text(
        "ParamCampaignExpiresAt", "CampaignExpiresAt", .name, \.parameterNames.campaignExpiresAt,
        aka: ["paramCampaignExpiresAt"], "Parameter with the end of a campaign."),
      .text(
        "ParamCurrentCampaign", "CurrentCampaign", .name, \.parameterNames.currentCampaign,
        aka: ["paramCurrentCampaign"], "Parameter with the name of a campaign."),
      .text(
        "ParamCallToAction", "CallToAction", .name, \.parameterNames.callToAction, aka: ["paramCallToAction"],
        "Parameter with the call to action of a notification or link."),
    ])

  private static let sessionRows: [Setting] = rows(
    .session,
    [
      .duration(
        "sessionLifecycleExpiration", "30 minutes", \.session.expiration,
        "Background time after which a session ends.")
    ])

  private static let networkingRows: [Setting] = rows(
    .networking,
    [
      .number(
        "maxNumRetries", 3, in: 0...1000, unit: "attempts", \.networking.maxRetries,
        "Failures of the service at one request after which it is halved, until the event that becomes `FAILED_POST` is alone."
      ),
      .unused(
        "secureConnection", true, .boolean,
        "Whether the Android package posted over TLS. Here the URL decides, and `http` is for the loopback only."),
      .duration(
        "retryDelay", "1 second", \.networking.retryDelay,
        "Longest pause before a request, of events or of identities, is first repeated; it doubles each time, and the actual pause is a random part of it."
      ),
      .duration(
        "maxRetryDelay", "60 seconds", \.networking.maxRetryDelay,
        "Upper limit of the pause before a repetition."),
      .number(
        "retryBudget", 1000, in: 0...1_000_000, unit: "requests", \.networking.retryBudget,
        "Total number of repeated requests after which a run stops and leaves the rest queued."),
      .number(
        "breakerFailures", 10, in: 1...10_000, unit: "failures", \.networking.breakerFailures,
        "Consecutive failures, of all requests together, after which a run stops sending; half as many of one request are enough while nothing else is accepted. Single events refused as wrong in a row also count, from 10 on. Temporary refusals (`Upload.patience`) do not count. What was not sent stays queued."
      ),
      .unused(
        "breakerPause", "30 seconds", .duration(.zero...ExpirationText.longestDuration),
        "Pause after too many consecutive failures. A run ends instead, and the schedule decides when the next one tries."
      ),
    ])

  private static let ubfFieldNamesRows: [Setting] = rows(
    .ubfFieldNames,
    [
      .attribute(.activeSeconds, "Session Duration", "Attribute of a session's end with its time of use."),
      .attribute(.tags, "Tags", "Attribute with the tags of an event."),
      .attribute(.displayedMessage, "Displayed Message", "Attribute with the text of a notification."),
      .attribute(.callToAction, "Call To Action", "Attribute with the call to action of a notification or link."),
      .attribute(.eventName, "Event Name", "Attribute with the name of a named event."),
      .attribute(.goalName, "Goal Name", "Attribute with the name of a goal."),
      .attribute(.campaign, "Campaign Name", "Attribute with the active campaign."),
      .attribute(
        .lastCampaign, "Last Campaign", "Attribute of an installation with the last stored campaign, active or not."),
      .attribute(.locationAddress, "Location Address", "Attribute with the address that augmentation adds."),
      .attribute(.locationName, "Location Name", "Attribute with the name of the place that augmentation adds."),
      .attribute(.latitude, "Latitude", "Attribute with the latitude that augmentation adds."),
      .attribute(.longitude, "Longitude", "Attribute with the longitude that augmentation adds."),
    ])

  private static let locationServicesRows: [Setting] = rows(
    .locationServices,
    [
      .flag(
        "enabled", true, \.location.isEnabled, aka: ["locationServicesEnabled"],
        "Whether recorded locations are used; if not, the location plugins are skipped."),
      .datePattern(
        "lastKnownLocationDateFormat", "yyyy'-'MM'-'dd", \.location.dateFormat,
        "Date format of the last known location's time in the database, in UTC."),
      .text(
        "lastKnownLocationColumn", "Last Location Address", .name, \.location.addressColumn,
        "Column with the last known address."),
      .text(
        "lastKnownLocationTimestampColumn", "Last Location Address Time", .name, \.location.timeColumn,
        "Column with the time of the last known address."),
      .unused(
        "locationDistanceFilter", 10, .integerOrText(0...1_000_000), unit: "meters",
        "Distance between two location updates of a phone. A string on iOS, an integer on Android."),
      .unused(
        "locationMilliUpdateInterval", 30000, .integer(0...86_400_000), unit: "milliseconds",
        "Time between two location updates of an Android phone."),
      .unused(
        "locationPrecisionLevel", "kCLLocationAccuracyBest", .text(.any),
        "Location accuracy that an iOS phone requests."),
      .duration(
        "locationCacheLifespan", "1 hr", \.location.cacheLifespan,
        "How long a recorded location or placemark is used for later events."),
      .unused(
        "coordinatesPlacemarkTimeout", "15 sec", .duration(.zero...ExpirationText.longestDuration),
        "Geocoding timeout of an iOS phone."),
      .unused(
        "coordinatesAcquisitionTimeout", "15 sec", .duration(.zero...ExpirationText.longestDuration),
        "Coordinate timeout of an iOS phone."),
    ])

  private static let augmentationRows: [Setting] = rows(
    .augmentation,
    [
      .duration(
        "augmentationTimeout", "15 sec", \.augmentation.timeout,
        "How long after its own time an event is pending for recorded data; then it is sent as `EXPIRED`."),
      .init(
        "augmentationPluginClasses", aka: ["ubfAugmentorClassNames"], .list(.name),
        fallback: [
          "UBFCoordinatesAugmentationPlugin", "UBFPlacemarkAugmentationPlugin", "UBFLocationNameAugmentationPlugin",
        ], \.augmentation.plugins,
        "Plugins that add attributes, in order; a package name before the class is ignored. `LookupTableAugmentationPlugin` means `Augmentation.lookupTables`, which otherwise come last."
      ) { $0.elements?.map(AugmentationPlugin.init(className:)) },
      .init(
        "lookupTables", .lookupTables, fallback: [], \.augmentation.lookupTables,
        "Tables that add attributes: `file` (CSV or JSON), `keyAttribute` (whose value selects the row), `keyColumn` (the column it is compared with, by default of the same name), `columns` (names, or a dictionary from column to attribute)."
      ) { if case .lookupTables(let tables) = $0 { tables } else { nil } },
      .list(
        "command", [], of: .any, \.augmentation.command,
        "Program with arguments that adds attributes, after everything else: it reads events on stdin, one a line as in `--events-out`, and answers each with a line, an object of attributes. It runs in the job's folder."
      ),
      .duration(
        "commandTimeout", "10 sec", atLeast: 1, \.augmentation.commandTimeout,
        "How long `Augmentation.command` may take to answer; then the event is sent without it."),
      .list(
        "commandVariables", [], of: .name, \.augmentation.commandVariables,
        "Environment variables that `Augmentation.command` gets besides `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LANGUAGE`, `LC_*`, `TZ`, `TZDIR`, `TMPDIR` and `LD_LIBRARY_PATH`."
      ),
    ])

  private static let pluggableServicesRows: [Setting] = rows(
    .pluggableServices,
    [
      .unused("pluggableLocationManagerClassName", "", .text(.any), "Class that finds an Android phone's location.")
    ])

  private static let localEventStoreRows: [Setting] = rows(
    .localEventStore,
    [
      .number(
        "expireLocalEventsAfterNumDays", 30, in: 0...36_525, unit: "days", \.eventStore.daysToKeep,
        "Age from which `store purge` deletes posted events."),
      .number(
        "expireDigestsAfterNumDays", 0, in: 0...36_525, unit: "days", \.eventStore.digestDays,
        "Age of processed lines from which `store purge` deletes their digests, which find duplicates; older lines are then refused. 0 keeps all."
      ),
      .number(
        "expireDevicesAfterNumDays", 0, in: 0...36_525, unit: "days", \.eventStore.deviceDays,
        "Days without a record after which `store purge` deletes a device's state; the device is new if it comes back, and older lines are then refused. 0 keeps all."
      ),
    ])
}
