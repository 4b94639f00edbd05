extension Preset {
  /// The daily and intraday tables that Google Analytics 4 and Firebase export to BigQuery, as lines of JSON.
  static let ga4Text =
    ##"""
    {
      "description": "Google Analytics 4 and Firebase: rows of the BigQuery export as lines of JSON.",
      "fields": {
        "deviceId": ["user_pseudo_id", "device.vendor_id", "device.advertising_id"],
        "timestamp": {"path": "event_timestamp", "time": "microseconds"},
        "mobileUserId": "user_id",
        "device.name": ["device.mobile_marketing_name", "device.mobile_model_name"],
        "device.version": ["device.mobile_os_hardware_model", "device.mobile_model_name"],
        "device.osName": ["device.operating_system", "platform"],
        "device.osVersion": "device.operating_system_version",
        "device.appName": "app_info.id",
        "device.appVersion": "app_info.version"
      },
      "rules": [
        {"name": "session", "when": {"event_name": "session_start"}, "type": "foreground"},
        {"name": "first open", "when": {"event_name": "first_open"}, "type": "launch"},
        {
          "name": "notification",
          "when": {"event_name": ["notification_receive", "notification_open"]},
          "type": {"path": "event_name", "table": {"notification_receive": "pushReceived"}, "default": "notificationOpened"},
          "fields": {
            "payload": {"constant": {"aps": {}}},
            "payload.CurrentCampaign": ["event_params[key=message_name].value.*", "event_params[key=message_id].value.*"],
            "params": {"pairs": "event_params", "key": "key", "value": "value.*"}
          }
        },
        {
          "name": "dynamic link",
          "when": {
            "event_name": ["dynamic_link_app_open", "dynamic_link_first_open"],
            "event_params[key=link].value.*": {"exists": true}
          },
          "type": "deepLink",
          "fields": {"url": "event_params[key=link].value.*"}
        },
        {
          "name": "purchase",
          "when": {"event_name": ["purchase", "in_app_purchase"]},
          "type": "goalCompleted",
          "fields": {"name": "event_name", "params": {"pairs": "event_params", "key": "key", "value": "value.*"}}
        },
        {
          "name": "internal",
          "when": {"event_name": ["user_engagement", "app_exception", "os_update", "app_clear_data", "app_remove"]},
          "leaveOut": "measured by the service itself"
        },
        {
          "name": "event",
          "when": {"event_name": {"exists": true}},
          "type": "namedEvent",
          "fields": {"name": "event_name", "params": {"pairs": "event_params", "key": "key", "value": "value.*"}}
        }
      ]
    }
    """##

  /// Amplitude's Export API and its exports to Amazon S3: an event a line.
  static let amplitudeText =
    ##"""
    {
      "description": "Amplitude: events of the Export API, one a line.",
      "fields": {
        "deviceId": ["device_id", "amplitude_id"],
        "timestamp": ["client_event_time", "event_time", "time"],
        "recordId": ["uuid", "$insert_id"],
        "mobileUserId": "user_id",
        "device.name": ["device_model", "device_type", "device_family"],
        "device.version": ["device_type", "device_family"],
        "device.osName": ["os_name", "platform"],
        "device.osVersion": "os_version",
        "device.appVersion": ["version_name", "start_version"]
      },
      "rules": [
        {
          "name": "opened",
          "when": {"event_type": ["[Amplitude] Application Opened", "[Amplitude] Application Installed"]},
          "type": "launch"
        },
        {"name": "backgrounded", "when": {"event_type": "[Amplitude] Application Backgrounded"}, "type": "background"},
        {"name": "session start", "when": {"event_type": ["session_start", "[Amplitude] Start Session"]}, "type": "foreground"},
        {"name": "session end", "when": {"event_type": ["session_end", "[Amplitude] End Session"]}, "type": "background"},
        {
          "name": "deep link",
          "when": {
            "event_type": "[Amplitude] Deep Link Opened",
            "event_properties.'[Amplitude] Link URL'": {"exists": true}
          },
          "type": "deepLink",
          "fields": {"url": "event_properties.'[Amplitude] Link URL'"}
        },
        {
          "name": "service",
          "when": {"event_type": {"begins": "$"}},
          "leaveOut": "a change of properties at the service"
        },
        {
          "name": "revenue",
          "when": {"event_type": ["revenue_amount", "[Amplitude] Revenue", "verified_revenue", "unverified_revenue"]},
          "type": "goalCompleted",
          "fields": {"name": "event_type", "params": {"members": "event_properties", "flatten": "."}}
        },
        {
          "name": "event",
          "when": {"event_type": {"exists": true}},
          "type": "namedEvent",
          "fields": {"name": "event_type", "params": {"members": "event_properties", "flatten": "."}}
        }
      ]
    }
    """##

  /// Mixpanel's Raw Event Export API: an event a line, all facts among its properties.
  static let mixpanelText =
    ##"""
    {
      "description": "Mixpanel: events of the Raw Event Export API, one a line.",
      "fields": {
        "deviceId": ["properties.$device_id", "properties.distinct_id"],
        "timestamp": "properties.time",
        "recordId": "properties.$insert_id",
        "mobileUserId": "properties.$user_id",
        "device.name": "properties.$model",
        "device.version": "properties.$model",
        "device.osName": "properties.$os",
        "device.osVersion": "properties.$os_version",
        "device.appVersion": ["properties.$app_version_string", "properties.$app_version"]
      },
      "rules": [
        {"name": "first open", "when": {"event": "$ae_first_open"}, "type": "launch"},
        {
          "name": "session",
          "when": {"event": "$ae_session"},
          "leaveOut": "a session that the service measured at its end"
        },
        {
          "name": "push",
          "when": {"event": ["$campaign_received", "$push_notification_received", "$app_open", "$push_notification_tap"]},
          "type": {
            "path": "event",
            "table": {"$campaign_received": "pushReceived", "$push_notification_received": "pushReceived"},
            "default": "notificationOpened"
          },
          "fields": {
            "payload": {"constant": {"aps": {}}},
            "payload.CurrentCampaign": {"path": "properties.campaign_id", "as": "text"},
            "params": {"members": "properties", "only": ["message_id", "message_type", "campaign_id"]}
          }
        },
        {
          "name": "service",
          "when": {"event": ["$identify", "$create_alias", "$merge", "$campaign_delivery", "$ae_updated", "$ae_crashed"]},
          "leaveOut": "no act of a person in the app"
        },
        {
          "name": "event",
          "when": {"event": {"exists": true}},
          "type": "namedEvent",
          "fields": {
            "name": "event",
            "params": {
              "others": "properties",
              "except": [
                "distinct_id", "mp_processing_time_ms", "$mp_api_endpoint", "$mp_api_timestamp_ms", "mp_lib", "$lib_version",
                "$import", "mp_country_code", "$city", "$region", "$manufacturer", "$brand", "$screen_height", "$screen_width",
                "$screen_dpi", "$wifi", "$radio", "$carrier", "$app_build_number", "$app_release", "$had_persisted_distinct_id"
              ],
              "flatten": "."
            }
          }
        }
      ]
    }
    """##

  /// mParticle's batches, as its outgoing feeds and the Events API have them.
  static let mparticleText =
    ##"""
    {
      "description": "mParticle: batches, one a line, whose events are the records.",
      "each": "events",
      "fields": {
        "deviceId": [
          "^.device_info.ios_idfv", "^.device_info.android_uuid", "^.mp_deviceid", "^.device_application_stamp",
          "^.device_info.ios_advertising_id", "^.device_info.android_advertising_id", "^.mpid"
        ],
        "timestamp": {"path": ["data.timestamp_unixtime_ms", "^.timestamp_unixtime_ms"], "time": "milliseconds"},
        "recordId": ["data.event_id", "data.source_message_id"],
        "mobileUserId": ["^.user_identities.customer_id", "^.user_identities.customerid"],
        "device.name": "^.device_info.device_model",
        "device.version": ["^.device_info.device_product", "^.device_info.device_model"],
        "device.osName": "^.device_info.platform",
        "device.osVersion": "^.device_info.os_version",
        "device.appName": ["^.application_info.application_name", "^.application_info.package"],
        "device.appVersion": "^.application_info.application_version"
      },
      "rules": [
        {
          "name": "state",
          "when": {
            "event_type": "application_state_transition",
            "data.application_transition_type": [
              "application_initialized", "application_foreground", "application_background", "application_exit"
            ]
          },
          "type": {
            "path": "data.application_transition_type",
            "table": {
              "application_initialized": "launch", "application_foreground": "foreground",
              "application_background": "background", "application_exit": "terminate"
            },
            "default": "background"
          }
        },
        {
          "name": "push",
          "when": {"event_type": "push_message"},
          "type": {
            "path": ["data.push_message_behavior", "data.push_message_type"],
            "table": {"Received": "pushReceived", "received": "pushReceived", "receive": "pushReceived"},
            "default": "notificationOpened"
          },
          "fields": {
            "payload": {"constant": {"aps": {}}},
            "payload.aps.alert": "data.push_notification_payload",
            "payload.CurrentCampaign": "data.custom_attributes.campaign"
          }
        },
        {
          "name": "screen",
          "when": {"event_type": "screen_view"},
          "type": "namedEvent",
          "fields": {"name": {"path": "data.screen_name", "prefix": "Screen "}, "params": {"members": "data.custom_attributes"}}
        },
        {
          "name": "commerce",
          "when": {"event_type": "commerce_event", "data.product_action.action": "purchase"},
          "type": "goalCompleted",
          "fields": {
            "name": "data.product_action.action",
            "params": [
              {"members": "data.custom_attributes"},
              {"members": "data.product_action", "only": ["transaction_id", "total_amount", "tax_amount", "coupon_code"]}
            ]
          }
        },
        {
          "name": "custom",
          "when": {"event_type": "custom_event"},
          "type": "namedEvent",
          "fields": {"name": "data.event_name", "params": {"members": "data.custom_attributes"}}
        },
        {"name": "others", "when": {"event_type": {"exists": true}}, "leaveOut": "no event that a record stands for"}
      ]
    }
    """##
}
