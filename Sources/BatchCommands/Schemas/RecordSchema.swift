extension DocumentSchema {
  /// A line of an export (reference formats 3).
  static let recordText = ##"""
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": "engage-batch record: one line of an export",
      "description": "Further fields are accepted, ignored and counted.",
      "anyOf": [
        {"$ref": "#/definitions/event"},
        {"$ref": "#/definitions/notification"},
        {"$ref": "#/definitions/deepLink"},
        {"$ref": "#/definitions/storedEvent"},
        {"$ref": "#/definitions/storedGameEvent"}
      ],
      "definitions": {
        "event": {
          "type": "object",
          "required": ["deviceId", "timestamp", "type"],
          "properties": {
            "deviceId": {"type": "string", "minLength": 1, "description": "State is kept per device."},
            "timestamp": {
              "anyOf": [
                {"type": "number", "minimum": 0},
                {
                  "type": "string",
                  "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
                },
                {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?$"}
              ],
              "description": "RFC 3339; or yyyy-MM-dd HH:mm:ss[.SSS] in UTC; or epoch seconds below 1e11, else milliseconds."
            },
            "params": {"type": ["object", "null"], "description": "The caller's attributes."},
            "device": {
              "type": ["object", "null"],
              "properties": {
                "name": {"type": ["string", "null"]},
                "version": {"type": ["string", "null"]},
                "osName": {"type": ["string", "null"]},
                "osVersion": {"type": ["string", "null"]},
                "appName": {"type": ["string", "null"]},
                "appVersion": {"type": ["string", "null"]},
                "manufacturer": {"type": ["string", "null"]},
                "deviceType": {"type": ["string", "null"]},
                "language": {"type": ["string", "null"]},
                "country": {"type": ["string", "null"]},
                "timezoneOffset": {"type": ["string", "null"]}
              },
              "description": "The last known value of each holds for later records of the device."
            },
            "mobileUserId": {"type": ["string", "null"], "description": "The device's user from this record on."},
            "anonymousId": {"type": ["string", "null"]},
            "recipientId": {"type": ["string", "null"]},
            "channelId": {"type": ["string", "null"]},
            "appKey": {"type": ["string", "null"]},
            "recordId": {"description": "Any value that tells this line from an equal one."},
            "type": {
              "enum": [
                "launch",
                "foreground",
                "background",
                "terminate",
                "namedEvent",
                "goalCompleted",
                "goalAbandoned",
                "gameEvent",
                "localNotification",
                "pushReceived",
                "notificationOpened",
                "deepLink",
                "custom",
                "location",
                "identify",
                "contactList",
                "program",
                "optOut",
                "optIn",
                "pushEnabled",
                "pushDisabled",
                "setMobileUserId",
                "transaction",
                "imageMessageAction",
                "pushToken",
                "crossGameUserId",
                "engagement",
                "setUserId",
                "placemark",
                "newSession",
                "forgetMe",
                "stopTracking",
                "consent",
                "clearPersistentData"
              ],
              "description": "What happened. The games of deltaDNA know those from gameEvent on, and not all of the others; of those, Engage knows consent alone."
            },
            "name": {"type": ["string", "null"], "description": "Of the event; of a placemark its name."},
            "url": {"type": ["string", "null"]},
            "payload": {"type": ["object", "null"], "description": "The push message as the phone got it."},
            "notification": {
              "type": ["object", "null"],
              "properties": {"alertAction": {"type": ["string", "null"]}, "alertBody": {"type": ["string", "null"]}}
            },
            "eventTypeCode": {"type": ["string", "integer", "null"]},
            "latitude": {"type": ["number", "null"]},
            "longitude": {"type": ["number", "null"]},
            "city": {"type": ["string", "null"]},
            "state": {"type": ["string", "null"]},
            "postalCode": {"type": ["string", "null"]},
            "country": {"type": ["string", "null"]},
            "countryCode": {"type": ["string", "null"]},
            "ids": {
              "type": ["object", "null"],
              "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
              "description": "Column of the list to value."
            },
            "contactListId": {"type": ["string", "integer", "null"]},
            "programId": {"type": ["string", "integer", "null"]},
            "transactionType": {"type": ["string", "null"]},
            "received": {
              "type": ["object", "null"],
              "properties": {
                "realCurrency": {
                  "type": ["object", "null"],
                  "properties": {"type": {"type": "string"}, "value": {"type": ["string", "number"]}}
                },
                "virtualCurrencies": {
                  "type": ["array", "null"],
                  "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "type": {"type": "string"}, "amount": {"type": "integer"}}
                  }
                },
                "items": {
                  "type": ["array", "null"],
                  "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "type": {"type": "string"}, "amount": {"type": "integer"}}
                  }
                }
              }
            },
            "spent": {
              "type": ["object", "null"],
              "properties": {
                "realCurrency": {
                  "type": ["object", "null"],
                  "properties": {"type": {"type": "string"}, "value": {"type": ["string", "number"]}}
                },
                "virtualCurrencies": {
                  "type": ["array", "null"],
                  "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "type": {"type": "string"}, "amount": {"type": "integer"}}
                  }
                },
                "items": {
                  "type": ["array", "null"],
                  "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "type": {"type": "string"}, "amount": {"type": "integer"}}
                  }
                }
              }
            },
            "token": {"type": ["string", "null"]},
            "crossGameUserId": {"type": ["string", "null"]},
            "decisionPoint": {"type": ["string", "null"]},
            "flavour": {"type": ["string", "null"]},
            "userId": {"type": ["string", "null"]},
            "advertisingId": {"type": ["string", "null"]},
            "use": {"type": ["boolean", "null"]},
            "export": {"type": ["boolean", "null"]},
            "didLaunch": {"type": ["boolean", "null"]},
            "imActionName": {"type": ["string", "null"]},
            "imActionType": {"type": ["string", "null"]},
            "imActionValue": {"type": ["string", "null"]},
            "response": {"type": ["object", "null"]}
          },
          "allOf": [
            {
              "if": {"properties": {"type": {"enum": ["namedEvent", "goalCompleted", "goalAbandoned", "gameEvent"]}}},
              "then": {"required": ["name"], "properties": {"name": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["localNotification"]}}},
              "then": {"required": ["notification"], "properties": {"notification": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["pushReceived", "notificationOpened"]}}},
              "then": {"required": ["payload"], "properties": {"payload": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["deepLink"]}}},
              "then": {"required": ["url"], "properties": {"url": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["custom"]}}},
              "then": {"required": ["eventTypeCode"], "properties": {"eventTypeCode": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["location"]}}},
              "then": {
                "required": ["latitude", "longitude"],
                "properties": {"latitude": {"not": {"type": "null"}}, "longitude": {"not": {"type": "null"}}}
              }
            },
            {
              "if": {"properties": {"type": {"enum": ["identify"]}}},
              "then": {"required": ["ids"], "properties": {"ids": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["contactList"]}}},
              "then": {"required": ["contactListId"], "properties": {"contactListId": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["program"]}}},
              "then": {"required": ["programId"], "properties": {"programId": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["setMobileUserId"]}}},
              "then": {"required": ["mobileUserId"], "properties": {"mobileUserId": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["transaction"]}}},
              "then": {
                "required": ["name", "transactionType"],
                "properties": {"name": {"not": {"type": "null"}}, "transactionType": {"not": {"type": "null"}}}
              }
            },
            {
              "if": {"properties": {"type": {"enum": ["imageMessageAction"]}}},
              "then": {"required": ["imActionType"], "properties": {"imActionType": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["pushToken"]}}},
              "then": {"required": ["token"], "properties": {"token": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["crossGameUserId"]}}},
              "then": {"required": ["crossGameUserId"], "properties": {"crossGameUserId": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["engagement"]}}},
              "then": {"required": ["decisionPoint"], "properties": {"decisionPoint": {"not": {"type": "null"}}}}
            },
            {
              "if": {"properties": {"type": {"enum": ["setUserId"]}}},
              "then": {"required": ["userId"], "properties": {"userId": {"not": {"type": "null"}}}}
            }
          ]
        },
        "notification": {
          "type": "object",
          "required": ["deviceId", "timestamp", "action"],
          "properties": {
            "deviceId": {"type": "string", "minLength": 1, "description": "State is kept per device."},
            "timestamp": {
              "anyOf": [
                {"type": "number", "minimum": 0},
                {
                  "type": "string",
                  "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
                },
                {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?$"}
              ],
              "description": "RFC 3339; or yyyy-MM-dd HH:mm:ss[.SSS] in UTC; or epoch seconds below 1e11, else milliseconds."
            },
            "params": {"type": ["object", "null"], "description": "The caller's attributes."},
            "device": {
              "type": ["object", "null"],
              "properties": {
                "name": {"type": ["string", "null"]},
                "version": {"type": ["string", "null"]},
                "osName": {"type": ["string", "null"]},
                "osVersion": {"type": ["string", "null"]},
                "appName": {"type": ["string", "null"]},
                "appVersion": {"type": ["string", "null"]},
                "manufacturer": {"type": ["string", "null"]},
                "deviceType": {"type": ["string", "null"]},
                "language": {"type": ["string", "null"]},
                "country": {"type": ["string", "null"]},
                "timezoneOffset": {"type": ["string", "null"]}
              },
              "description": "The last known value of each holds for later records of the device."
            },
            "mobileUserId": {"type": ["string", "null"], "description": "The device's user from this record on."},
            "anonymousId": {"type": ["string", "null"]},
            "recipientId": {"type": ["string", "null"]},
            "channelId": {"type": ["string", "null"]},
            "appKey": {"type": ["string", "null"]},
            "recordId": {"description": "Any value that tells this line from an equal one."},
            "action": {"enum": ["received", "opened"]},
            "channel": {"enum": ["push", "local", null], "default": "push"},
            "payload": {"type": ["object", "null"]},
            "notification": {"type": ["object", "null"]}
          },
          "anyOf": [{"required": ["payload"]}, {"required": ["notification"]}]
        },
        "deepLink": {
          "type": "object",
          "required": ["deviceId", "timestamp", "url"],
          "properties": {
            "deviceId": {"type": "string", "minLength": 1, "description": "State is kept per device."},
            "timestamp": {
              "anyOf": [
                {"type": "number", "minimum": 0},
                {
                  "type": "string",
                  "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
                },
                {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?$"}
              ],
              "description": "RFC 3339; or yyyy-MM-dd HH:mm:ss[.SSS] in UTC; or epoch seconds below 1e11, else milliseconds."
            },
            "params": {"type": ["object", "null"], "description": "The caller's attributes."},
            "device": {
              "type": ["object", "null"],
              "properties": {
                "name": {"type": ["string", "null"]},
                "version": {"type": ["string", "null"]},
                "osName": {"type": ["string", "null"]},
                "osVersion": {"type": ["string", "null"]},
                "appName": {"type": ["string", "null"]},
                "appVersion": {"type": ["string", "null"]},
                "manufacturer": {"type": ["string", "null"]},
                "deviceType": {"type": ["string", "null"]},
                "language": {"type": ["string", "null"]},
                "country": {"type": ["string", "null"]},
                "timezoneOffset": {"type": ["string", "null"]}
              },
              "description": "The last known value of each holds for later records of the device."
            },
            "mobileUserId": {"type": ["string", "null"], "description": "The device's user from this record on."},
            "anonymousId": {"type": ["string", "null"]},
            "recipientId": {"type": ["string", "null"]},
            "channelId": {"type": ["string", "null"]},
            "appKey": {"type": ["string", "null"]},
            "recordId": {"description": "Any value that tells this line from an equal one."},
            "url": {"type": "string"}
          }
        },
        "storedEvent": {
          "type": "object",
          "required": ["eventTypeCode", "attributes"],
          "properties": {
            "eventTypeCode": {"type": ["string", "integer"]},
            "eventTimestamp": {
              "anyOf": [
                {"type": "number", "minimum": 0},
                {
                  "type": "string",
                  "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
                },
                {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?$"}
              ],
              "description": "RFC 3339; or yyyy-MM-dd HH:mm:ss[.SSS] in UTC; or epoch seconds below 1e11, else milliseconds."
            },
            "eventTimeStamp": {
              "anyOf": [
                {"type": "number", "minimum": 0},
                {
                  "type": "string",
                  "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
                },
                {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?$"}
              ],
              "description": "RFC 3339; or yyyy-MM-dd HH:mm:ss[.SSS] in UTC; or epoch seconds below 1e11, else milliseconds."
            },
            "attributes": {
              "type": "array",
              "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
            }
          },
          "anyOf": [{"required": ["eventTimestamp"]}, {"required": ["eventTimeStamp"]}],
          "description": "An event as a phone stored it for Engage; its device is the attribute Device Id."
        },
        "storedGameEvent": {
          "type": "object",
          "required": ["eventName", "eventTimestamp"],
          "properties": {
            "eventName": {"type": "string", "minLength": 1},
            "userID": {"type": ["string", "null"]},
            "sessionID": {"type": ["string", "null"]},
            "eventUUID": {"type": ["string", "null"]},
            "eventTimestamp": {"type": ["string", "number"]},
            "eventParams": {"type": ["object", "null"]}
          },
          "description": "An event as a phone stored it for deltaDNA."
        }
      }
    }
    """##
}
