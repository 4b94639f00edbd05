extension DocumentSchema {
  /// A job file (reference formats 1).
  ///
  /// It names the schema of configurations by its place beside the committed ones.
  static let jobText =
    ##"""
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": "engage-batch job",
      "type": "object",
      "required": ["name", "inputs"],
      "additionalProperties": false,
      "properties": {
        "$schema": {"type": "string"},
        "name": {
          "type": "string",
          "pattern": "[^ ]",
          "description": "Names the reports and, unless `store` says otherwise, the store."
        },
        "destination": {
          "anyOf": [{"enum": ["engage", "deltadna", "unity", null]}, {"$ref": "#/definitions/variable"}],
          "default": "engage",
          "description": "Which platform the records are for."
        },
        "inputs": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "events": {
              "type": "array",
              "items": {"$ref": "#/definitions/input"},
              "description": "Recorded events, one JSON object a line."
            },
            "notifications": {
              "type": "array",
              "items": {"$ref": "#/definitions/input"},
              "description": "Recorded notifications: records with `action` in place of `type`."
            },
            "deepLinks": {
              "type": "array",
              "items": {"$ref": "#/definitions/input"},
              "description": "Recorded links: records with `url`, or lines of timestamp, device and URL between tabs."
            }
          },
          "minProperties": 1,
          "description": "What a run reads; paths start at the job file and may hold *, **, ?, and {yyyy}, {MM}, {dd} for the days of the window."
        },
        "configuration": {
          "type": ["array", "null"],
          "items": {"$ref": "#/definitions/path"},
          "description": "Configuration files in order; later ones win."
        },
        "settings": {
          "anyOf": [{"type": "null"}, {"$ref": "../EngageConfig.schema.json"}],
          "description": "Settings over those files."
        },
        "deepLinkRoutes": {
          "anyOf": [{"type": "null"}, {"$ref": "#/definitions/path"}],
          "description": "A MobileDeepLinkingConfig.json."
        },
        "window": {
          "type": ["object", "null"],
          "additionalProperties": false,
          "properties": {
            "from": {
              "anyOf": [
                {"type": "null"},
                {
                  "type": "string",
                  "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
                },
                {
                  "type": "string",
                  "pattern": "^(now|today|yesterday|tomorrow)([+-]P([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)?$"
                },
                {"$ref": "#/definitions/variable"},
                {"type": "string", "pattern": "^[+-]P([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+S)?)?$"}
              ],
              "description": "Records before it are skipped: a time of RFC 3339, or one relative to the run, such as yesterday, today-P7D, -PT6H."
            },
            "to": {
              "anyOf": [
                {"type": "null"},
                {
                  "type": "string",
                  "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
                },
                {
                  "type": "string",
                  "pattern": "^(now|today|yesterday|tomorrow)([+-]P([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)?$"
                },
                {"$ref": "#/definitions/variable"},
                {"type": "string", "pattern": "^[+-]P([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+S)?)?$"}
              ],
              "description": "Records from it on are skipped."
            },
            "zone": {
              "anyOf": [
                {"type": ["string", "null"], "pattern": "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$"},
                {"$ref": "#/definitions/variable"}
              ],
              "default": "UTC",
              "description": "The time zone whose days begin and end it, such as Europe/London."
            }
          },
          "description": "Half-open: records with from <= timestamp < to count; open where an end is missing."
        },
        "asOf": {
          "anyOf": [
            {
              "type": ["string", "null"],
              "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
            },
            {"$ref": "#/definitions/variable"}
          ],
          "description": "The clock of the run, in RFC 3339; the time at which it begins unless it is given."
        },
        "identity": {
          "anyOf": [{"type": ["boolean", "null"]}, {"$ref": "#/definitions/variable"}],
          "default": false,
          "description": "Whether identities are reconciled."
        },
        "store": {
          "anyOf": [{"type": "null"}, {"$ref": "#/definitions/path"}],
          "description": "The SQLite file; beside the job unless it is given."
        },
        "reports": {
          "anyOf": [{"type": "null"}, {"$ref": "#/definitions/path"}],
          "description": "The folder for reports; none are written unless it is given."
        },
        "outbox": {
          "anyOf": [{"type": "null"}, {"$ref": "#/definitions/path"}],
          "description": "A folder that takes the request bodies, a file each, in place of the service."
        },
        "tests": {
          "type": ["array", "null"],
          "items": {"$ref": "#/definitions/path"},
          "description": "Files with tests of the job, which engage-batch test runs."
        },
        "profiles": {
          "type": ["object", "null"],
          "additionalProperties": {
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
              "name": {"$ref": "#/properties/name"},
              "configuration": {"$ref": "#/properties/configuration"},
              "settings": {"$ref": "#/properties/settings"},
              "inputs": {"$ref": "#/properties/inputs"},
              "deepLinkRoutes": {"$ref": "#/properties/deepLinkRoutes"},
              "window": {"$ref": "#/properties/window"},
              "asOf": {"$ref": "#/properties/asOf"},
              "destination": {"$ref": "#/properties/destination"},
              "identity": {"$ref": "#/properties/identity"},
              "store": {"$ref": "#/properties/store"},
              "reports": {"$ref": "#/properties/reports"},
              "outbox": {"$ref": "#/properties/outbox"},
              "tests": {"$ref": "#/properties/tests"}
            }
          },
          "description": "Members that --profile NAME lays over the job; none may hold secrets."
        }
      },
      "definitions": {
        "path": {"type": "string", "pattern": "[^ ]"},
        "variable": {"type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}"},
        "input": {
          "anyOf": [
            {"$ref": "#/definitions/path"},
            {
              "type": "object",
              "required": ["path"],
              "additionalProperties": false,
              "properties": {
                "path": {"$ref": "#/definitions/path"},
                "label": {"type": ["string", "null"], "pattern": "[^ ]", "description": "What messages call it; its path unless it is given."},
                "required": {
                  "type": ["boolean", "null"],
                  "default": false,
                  "description": "Whether a run ends where nothing matches, on any day of the window."
                },
                "minRecords": {
                  "type": ["integer", "null"],
                  "minimum": 0,
                  "description": "A run ends where the files have fewer lines than this."
                },
                "map": {
                  "type": ["string", "null"],
                  "pattern": "[^ ]",
                  "description": "What makes records of what it holds: a preset such as segment, or a file."
                }
              }
            }
          ]
        }
      }
    }
    """##
}
