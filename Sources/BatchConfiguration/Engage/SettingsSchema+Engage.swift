import BatchFoundation

/// Settings from the SDKs' configuration files (reference events 7), with the documented defaults (reference decisions
/// 1).
extension SettingsSchema {
  static let generalRows = rows(
    .general,
    .text(
      "databaseListId", "", .any, \.general.listId, aka: ["engageListId"],
      "Id of the marketing database whose recipients are looked up, created and merged."
    ).from("ENGAGE_LIST_ID"),
    .unused(
      "ubfEventCacheSize", 3, .integer(1...1_000_000), unit: "events",
      "Number of ready events at which a phone posts them. In a run, `Upload.maxEventsPerRequest` limits a request, and all remaining events are posted at the end."
    ),
    .duration(
      "defaultCurrentCampaignExpiration", "1 day", \.general.campaignExpiration,
      "How long a campaign stays active if its payload or link specifies no expiry."),
    .init(
      "eventCodes", .eventCodes, fallback: "engage-sdk", \.general.eventCodes,
      "Codes and attributes of events: those of the EngageSDKs, those that Acoustic Campaign lists for mobile apps, or your own table (docs/reference/events.md, 1.8)."
    ) { EventCodes($0) },
    .optionalText(
      "eventSchema", .file, \.general.eventSchema,
      "Event schema against which events are checked before they are sent; events that do not match it are quarantined."
    ),
    .unused(
      "deepLinkScheme", "", .text(.any), "Scheme of the app's links on Android; links with any scheme are routed."))

  static let paramFieldNamesRows = rows(
    .paramFieldNames,
    .text(
      "ParamCampaignValidFor", "CampaignValidFor", .name, \.parameterNames.campaignValidFor,
      aka: ["paramCampaignValidFor"], "Parameter that contains the lifetime of a campaign."),
    .text(
      "ParamCampaignExpiresAt", "CampaignExpiresAt", .name, \.parameterNames.campaignExpiresAt,
      aka: ["paramCampaignExpiresAt"], "Parameter that contains the end time of a campaign."),
    .text(
      "ParamCurrentCampaign", "CurrentCampaign", .name, \.parameterNames.currentCampaign,
      aka: ["paramCurrentCampaign"], "Parameter that contains the name of a campaign."),
    .text(
      "ParamCallToAction", "CallToAction", .name, \.parameterNames.callToAction, aka: ["paramCallToAction"],
      "Parameter that contains the call to action of a notification or link."))

  static let sessionRows = rows(
    .session,
    .duration(
      "sessionLifecycleExpiration", "30 minutes", \.session.expiration,
      "Time in the background after which a session ends."))

  static let networkingRows = rows(
    .networking,
    .number(
      "maxNumRetries", 3, in: 0...1000, unit: "attempts", \.networking.maxRetries,
      "Number of service failures for one request after which the request is split in half, and so on, until the failing event is alone and becomes `FAILED_POST`."
    ),
    .unused(
      "secureConnection", true, .boolean,
      "Whether the Android package posted over TLS. Here the URL determines this, and `http` is allowed for loopback addresses only."
    ),
    .duration(
      "retryDelay", "1 second", \.networking.retryDelay,
      "Maximum pause before the first retry of a request, for events or identities. The maximum doubles with each retry; the actual pause is a random part of it."
    ),
    .duration(
      "maxRetryDelay", "60 seconds", \.networking.maxRetryDelay,
      "Upper limit of the pause before a retry."),
    .number(
      "retryBudget", 1000, in: 0...1_000_000, unit: "retries", \.networking.retryBudget,
      "Total number of retries after which a run stops and leaves the remaining events queued."),
    .number(
      "breakerFailures", 10, in: 1...10_000, unit: "failures", \.networking.breakerFailures,
      "Number of consecutive failures, across all requests, after which a run stops sending; half as many for one request are enough while nothing else is accepted. The same number of single events rejected in a row, but at least 10, also stops sending. Temporary refusals (`Upload.patience`) do not count. Unsent events stay queued."
    ),
    .unused(
      "breakerPause", "30 seconds", .duration(.zero...ExpirationText.longestDuration),
      "Pause after too many consecutive failures. Here the run ends instead, and the schedule determines when the next run tries again."
    ))

  static let ubfFieldNamesRows = rows(
    .ubfFieldNames,
    .attribute(
      .activeSeconds, "Session Duration", "Attribute of session-end events that contains the session's active time."),
    .attribute(.tags, "Tags", "Attribute that contains the tags of an event."),
    .attribute(.displayedMessage, "Displayed Message", "Attribute that contains the text of a notification."),
    .attribute(
      .callToAction, "Call To Action", "Attribute that contains the call to action of a notification or link."),
    .attribute(.eventName, "Event Name", "Attribute that contains the name of a named event."),
    .attribute(.goalName, "Goal Name", "Attribute that contains the goal's name."),
    .attribute(.campaign, "Campaign Name", "Attribute that contains the active campaign."),
    .attribute(
      .lastCampaign, "Last Campaign",
      "Attribute of installation events that contains the last stored campaign, active or not."),
    .attribute(.locationAddress, "Location Address", "Attribute that contains the address added by augmentation."),
    .attribute(.locationName, "Location Name", "Attribute that contains the place name added by augmentation."),
    .attribute(.latitude, "Latitude", "Attribute that contains the latitude added by augmentation."),
    .attribute(.longitude, "Longitude", "Attribute that contains the longitude added by augmentation."))

  static let locationServicesRows = rows(
    .locationServices,
    .flag(
      "enabled", true, \.location.isEnabled, aka: ["locationServicesEnabled"],
      "Whether recorded locations are used; if not, the location plug-ins are skipped."),
    .datePattern(
      "lastKnownLocationDateFormat", "yyyy'-'MM'-'dd", \.location.dateFormat,
      "Date format, in UTC, for the time of the last known location in the database."),
    .text(
      "lastKnownLocationColumn", "Last Location Address", .name, \.location.addressColumn,
      "Column that contains the last known address."),
    .text(
      "lastKnownLocationTimestampColumn", "Last Location Address Time", .name, \.location.timeColumn,
      "Column that contains the time of the last known address."),
    .unused(
      "locationDistanceFilter", 10, .integerOrText(0...1_000_000), unit: "meters",
      "Distance between two location updates on a phone. A string on iOS, an integer on Android."),
    .unused(
      "locationMilliUpdateInterval", 30000, .integer(0...86_400_000), unit: "milliseconds",
      "Time between two location updates on an Android phone."),
    .unused(
      "locationPrecisionLevel", "kCLLocationAccuracyBest", .text(.any),
      "Location accuracy that an iOS phone requests."),
    .duration(
      "locationCacheLifespan", "1 hr", \.location.cacheLifespan,
      "How long a recorded location or placemark is used for later events."),
    .unused(
      "coordinatesPlacemarkTimeout", "15 sec", .duration(.zero...ExpirationText.longestDuration),
      "Geocoding timeout on an iOS phone."),
    .unused(
      "coordinatesAcquisitionTimeout", "15 sec", .duration(.zero...ExpirationText.longestDuration),
      "Timeout for acquiring coordinates on an iOS phone."))

  static let augmentationRows = rows(
    .augmentation,
    .duration(
      "augmentationTimeout", "15 sec", \.augmentation.timeout,
      "How long an event remains pending until recorded data completes it; after that, its status is `EXPIRED`, and it is sent with the data found so far."
    ),
    .init(
      "augmentationPluginClasses", aka: ["ubfAugmentorClassNames"], .list(.name),
      fallback: [
        "UBFCoordinatesAugmentationPlugin", "UBFPlacemarkAugmentationPlugin", "UBFLocationNameAugmentationPlugin",
      ], \.augmentation.plugins,
      "Plug-ins that add attributes, in order; a package name before a class name is ignored. `LookupTableAugmentationPlugin` sets the position of `Augmentation.lookupTables`, which otherwise come last."
    ) { $0.array?.compactMap { AugmentationPluginClass(name: $0.string ?? "") } },
    .init(
      "lookupTables", .lookupTables, fallback: [], \.augmentation.lookupTables,
      "Tables that add attributes: `file` (CSV or JSON), `keyAttribute` (the attribute whose value selects the row), `keyColumn` (the column that contains this value; by default, the column with the attribute's name), `columns` (column names, or an object that maps columns to attributes)."
    ) { $0.array?.compactMap(LookupTable.init) },
    .list(
      "command", of: .any, \.augmentation.command,
      "Program, with its arguments, that adds attributes after all plug-ins and tables. The program reads events from stdin, one per line as in `--events-out`, and answers each with one line, a JSON object of attributes. It runs in the job's folder."
    ),
    .duration(
      "commandTimeout", "10 sec", atLeast: 1, \.augmentation.commandTimeout,
      "How long `Augmentation.command` may take to answer; after that, the event is sent without the program's attributes."
    ),
    .list(
      "commandVariables", of: .name, \.augmentation.commandVariables,
      "Environment variables that `Augmentation.command` gets besides `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LANGUAGE`, `LC_*`, `TZ`, `TZDIR`, `TMPDIR` and `LD_LIBRARY_PATH`."
    ))

  static let pluggableServicesRows = rows(
    .pluggableServices,
    .unused("pluggableLocationManagerClassName", "", .text(.any), "Class that finds an Android phone's location."))

  static let localEventStoreRows = rows(
    .localEventStore,
    .number(
      "expireLocalEventsAfterNumDays", 30, in: 0...36_525, unit: "days", \.eventStore.daysToKeep,
      "Age at which `store purge` deletes posted events."),
    .number(
      "expireDigestsAfterNumDays", 0, in: 0...36_525, unit: "days", \.eventStore.digestDays,
      "Age of processed lines at which `store purge` deletes their digests, which identify duplicates; older lines are skipped from then on. 0 keeps all digests."
    ),
    .number(
      "expireDevicesAfterNumDays", 0, in: 0...36_525, unit: "days", \.eventStore.deviceDays,
      "Days without a record after which `store purge` deletes a device's state; a device that records again later counts as new, and older lines are skipped from then on. 0 keeps all states."
    ))
}
