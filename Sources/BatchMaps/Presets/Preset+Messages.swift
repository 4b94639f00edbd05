extension Preset {
  /// Airship's Real-Time Data Streaming: an event a line, for inputs of events.
  static let airshipText =
    ##"""
    {
      "description": "Airship: events of Real-Time Data Streaming, one a line.",
      "fields": {
        "deviceId": ["device.channel", "device.ios_channel", "device.android_channel", "device.amazon_channel"],
        "timestamp": "occurred",
        "recordId": "id",
        "mobileUserId": "device.named_user_id",
        "device.version": "device.attributes.device_model",
        "device.osName": "device.device_type",
        "device.osVersion": "device.attributes.device_os",
        "device.appVersion": "device.attributes.app_version"
      },
      "rules": [
        {
          "name": "open after push",
          "when": {"type": "OPEN", "body.triggering_push.push_id": {"exists": true}},
          "type": "notificationOpened",
          "continue": true,
          "fields": {
            "payload": {"constant": {"aps": {}}},
            "payload.CurrentCampaign": [
              "body.triggering_push.campaigns.categories[0]", "body.triggering_push.group_id", "body.triggering_push.push_id"
            ]
          }
        },
        {"name": "open", "when": {"type": ["OPEN", "FIRST_OPEN"]}, "type": "foreground"},
        {"name": "close", "when": {"type": "CLOSE"}, "type": "background"},
        {
          "name": "send",
          "when": {"type": "SEND"},
          "type": "pushReceived",
          "fields": {
            "payload": {"constant": {"aps": {}}},
            "payload.CurrentCampaign": ["body.campaigns.categories[0]", "body.group_id", "body.push_id"]
          }
        },
        {
          "name": "custom",
          "when": {"type": "CUSTOM"},
          "type": "namedEvent",
          "fields": {"name": "body.name", "params": {"members": "body.properties", "flatten": "."}}
        },
        {
          "name": "location",
          "when": {"type": "LOCATION", "body.latitude": {"exists": true}},
          "type": "location",
          "fields": {"latitude": "body.latitude", "longitude": "body.longitude"}
        },
        {"name": "others", "when": {"type": {"exists": true}}, "leaveOut": "no event that a record stands for"}
      ]
    }
    """##

  /// OneSignal's event streams with its core fields, for inputs of notifications.
  static let onesignalText =
    ##"""
    {
      "description": "OneSignal: push events of Event Streams, one a line, as notifications.",
      "fields": {
        "deviceId": ["event.subscription_id", "subscription.id", "event.onesignal_id"],
        "timestamp": ["event.datetime", "event.timestamp"],
        "recordId": "event.id",
        "mobileUserId": ["event.external_id", "user.external_id"],
        "device.version": "subscription.device_model",
        "device.osName": "event.subscription_device_type",
        "device.osVersion": "subscription.device_os",
        "device.appVersion": "subscription.app_version",
        "payload": {"constant": {"aps": {}}},
        "payload.aps.alert": ["message.contents.en", "message.contents.*"],
        "payload.CurrentCampaign": ["message.name", "message.template_id", "message.id"]
      },
      "rules": [
        {
          "name": "push",
          "when": {"event.kind": ["message.push.received", "message.push.clicked"]},
          "fields": {
            "action": {
              "path": "event.kind",
              "table": {"message.push.received": "received", "message.push.clicked": "opened"},
              "default": "received"
            }
          }
        },
        {"name": "others", "when": {"event.kind": {"exists": true}}, "leaveOut": "no push that a device received or opened"}
      ]
    }
    """##

  /// Messages of Firebase Cloud Messaging with device and time beside them, for inputs of notifications.
  static let fcmText =
    ##"""
    {
      "description": "FCM: messages, each with the device, the time and perhaps the action beside it, as notifications.",
      "fields": {
        "deviceId": ["deviceId", "device", "device_id", "message.token", "token", "to"],
        "timestamp": ["timestamp", "time", "sentTime", "sent_at", "event_timestamp"],
        "recordId": ["messageId", "message_id", "message.name", "name"],
        "action": {
          "path": ["action", "event"],
          "table": {
            "received": "received", "receive": "received", "delivered": "received", "MESSAGE_DELIVERED": "received",
            "opened": "opened", "open": "opened", "clicked": "opened", "tapped": "opened"
          },
          "default": "received"
        },
        "payload": [
          {"members": "message.data"}, {"members": "data"}, {"members": "payload.data"},
          {"members": "message.apns.payload"}
        ],
        "payload.aps.alert": [
          "message.notification.body", "notification.body", "payload.notification.body", "message.notification.title",
          "notification.title"
        ]
      }
    }
    """##

  /// Payloads of the Apple Push Notification service with device and time beside them, for inputs of notifications.
  static let apnsText =
    ##"""
    {
      "description": "APNs: payloads, each with the device, the time and perhaps the action beside it, as notifications.",
      "fields": {
        "deviceId": ["deviceId", "device", "device_id", "deviceToken", "device_token", "token"],
        "timestamp": ["timestamp", "time", "sentAt", "sent_at", "date"],
        "recordId": ["apns-id", "apnsId", "apns_id", "headers.apns-id"],
        "action": {
          "path": ["action", "event"],
          "table": {
            "received": "received", "receive": "received", "delivered": "received", "opened": "opened", "open": "opened",
            "clicked": "opened", "tapped": "opened"
          },
          "default": "received"
        }
      },
      "rules": [
        {"name": "payload", "when": {"payload.aps": {"exists": true}}, "fields": {"payload": {"members": "payload"}}},
        {
          "name": "beside",
          "when": {"aps": {"exists": true}},
          "fields": {
            "payload": {
              "others": "$",
              "except": [
                "deviceId", "device", "device_id", "deviceToken", "device_token", "token", "timestamp", "time", "sentAt",
                "sent_at", "date", "action", "event", "headers"
              ]
            },
            "payload.aps": "aps"
          }
        }
      ]
    }
    """##
}
