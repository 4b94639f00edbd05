extension DocumentSchema {
  /// A file of deep link routes (`docs/deep-links.md`).
  static let routesText = ##"""
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": "engage-batch routes of deep links (MobileDeepLinkingConfig.json)",
      "type": "object",
      "required": ["logging", "defaultRoute", "routes"],
      "properties": {
        "$schema": {"type": "string"},
        "logging": {"enum": ["true", "false"], "description": "Without meaning here; the Android library wants it."},
        "defaultRoute": {
          "type": "object",
          "properties": {"handlers": {"$ref": "#/definitions/handlers"}},
          "description": "Takes the links that no route takes."
        },
        "routes": {
          "type": "object",
          "additionalProperties": {"$ref": "#/definitions/route"},
          "description": "A key is host/part/:placeholder; one that begins with / is for any host."
        }
      },
      "definitions": {
        "handlers": {
          "type": "array",
          "items": {"type": "string", "minLength": 1},
          "description": "postSilverpop and engageDefaultHandler put the route's parameters onto the event."
        },
        "route": {
          "type": "object",
          "properties": {
            "handlers": {"$ref": "#/definitions/handlers"},
            "routeParameters": {
              "type": "object",
              "additionalProperties": {"$ref": "#/definitions/parameter"},
              "description": "Placeholders of the key, and names of the query."
            }
          }
        },
        "parameter": {
          "type": "object",
          "properties": {
            "required": {"enum": ["true", "false"], "description": "Whether the route takes only links that have it."},
            "regex": {"type": "string", "description": "What the whole value has to match."}
          }
        }
      }
    }
    """##
}
