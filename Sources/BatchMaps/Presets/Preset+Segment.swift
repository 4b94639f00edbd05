extension Preset {
  /// Segment's calls as its Amazon S3 and Google Cloud Storage destinations write them, one a line, or batches of them.
  static let segmentText =
    ##"""
    {
      "description": "Segment: track, screen and identify calls of the mobile libraries, one a line or in batches.",
      "each": "batch",
      "fields": {
        "deviceId": ["context.device.id", "anonymousId", "^.context.device.id", "^.anonymousId"],
        "timestamp": ["timestamp", "originalTimestamp", "sentAt"],
        "recordId": "messageId",
        "mobileUserId": "userId",
        "device.name": ["context.device.name", "context.device.model"],
        "device.version": "context.device.model",
        "device.osName": "context.os.name",
        "device.osVersion": "context.os.version",
        "device.appName": "context.app.name",
        "device.appVersion": "context.app.version"
      },
      "rules": [
        {
          "name": "foregrounded",
          "when": {"type": "track", "event": "Application Opened", "properties.from_background": true},
          "type": "foreground"
        },
        {"name": "opened", "when": {"type": "track", "event": "Application Opened"}, "type": "launch"},
        {"name": "foreground", "when": {"type": "track", "event": "Application Foregrounded"}, "type": "foreground"},
        {"name": "backgrounded", "when": {"type": "track", "event": "Application Backgrounded"}, "type": "background"},
        {
          "name": "push",
          "when": {
            "type": "track",
            "event": ["Push Notification Received", "Push Notification Tapped", "Push Notification Opened"]
          },
          "type": {
            "path": "event",
            "table": {"Push Notification Received": "pushReceived"},
            "default": "notificationOpened"
          },
          "fields": {
            "payload": {"constant": {"aps": {}}},
            "payload.aps.alert": ["properties.message_title", "properties.title", "properties.campaign.content"],
            "payload.CurrentCampaign": ["properties.campaign.name", "context.campaign.name"],
            "params": {"members": "properties", "except": ["campaign"]}
          }
        },
        {
          "name": "deep link",
          "when": {
            "type": "track",
            "event": ["Deep Link Opened", "Deep Link Clicked"],
            "any": [{"properties.url": {"exists": true}}, {"properties.link": {"exists": true}}]
          },
          "type": "deepLink",
          "fields": {"url": ["properties.url", "properties.link"]}
        },
        {
          "name": "goal",
          "when": {"type": "track", "event": "Order Completed"},
          "type": "goalCompleted",
          "fields": {"name": "event", "params": {"members": "properties", "except": ["products"]}}
        },
        {
          "name": "track",
          "when": {"type": "track"},
          "type": "namedEvent",
          "fields": {"name": "event", "params": {"members": "properties", "flatten": "."}}
        },
        {
          "name": "screen",
          "when": {"type": "screen"},
          "type": "namedEvent",
          "fields": {
            "name": {"path": ["name", "properties.name"], "prefix": "Screen "},
            "params": {"members": "properties", "flatten": "."}
          }
        },
        {"name": "identify", "when": {"type": "identify", "userId": {"exists": true}}, "type": "setMobileUserId"},
        {"name": "others", "when": {"type": ["identify", "page", "group", "alias"]}, "leaveOut": "no call of a mobile app"}
      ]
    }
    """##

  /// RudderStack's calls, which have the shape of Segment's.
  static let rudderstackText =
    ##"""
    {
      "description": "RudderStack: the event payloads of its object storage destinations, one a line or in batches.",
      "each": "batch",
      "include": ["segment"]
    }
    """##
}
