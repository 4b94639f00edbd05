extension DocumentSchema {
  /// A map of foreign records (reference formats 6.3).
  static let mapText =
    ##"""
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": "engage-batch map",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "$schema": {"type": "string"},
        "description": {"type": "string", "description": "For people."},
        "form": {
          "enum": ["lines", "text", "json", "csv", "tsv", null],
          "default": "lines",
          "description": "How a file is cut into records."
        },
        "separator": {"type": "string", "minLength": 1, "maxLength": 1, "description": "What stands between the fields of a row."},
        "encoding": {"enum": ["utf-8", "iso-8859-1", "windows-1252", "utf-16", null], "default": "utf-8"},
        "columns": {"type": "array", "items": {"type": "string"}, "description": "Names of the columns of a table without a header."},
        "include": {"$ref": "#/definitions/texts", "description": "Maps whose rules come behind the own ones."},
        "tables": {
          "type": "object",
          "additionalProperties": {"type": "object"},
          "description": "Tables by name, each from texts to values."
        },
        "each": {"$ref": "#/definitions/path", "description": "An array whose elements are the records."},
        "fields": {"$ref": "#/definitions/fields", "description": "Fields of all rules."},
        "rules": {
          "type": "array",
          "description": "Asked in order; the first whose tests hold takes the record.",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "name": {"type": "string"},
              "when": {"$ref": "#/definitions/when"},
              "type": {"description": "The record's type: a text, or a source.", "type": ["string", "object", "array"]},
              "fields": {"$ref": "#/definitions/fields"},
              "leaveOut": {"type": "string", "description": "The reason under which its records are counted and left out."},
              "continue": {"type": "boolean", "description": "Whether the rules behind it are asked as well."}
            }
          }
        },
        "otherwise": {
          "enum": ["quarantine", "leaveOut", null],
          "default": "quarantine",
          "description": "What becomes of a record that no rule takes."
        }
      },
      "definitions": {
        "path": {"type": "string", "pattern": "[^ ]"},
        "texts": {
          "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
        },
        "when": {
          "type": "object",
          "description": "A test for each path; any has an array of further ones.",
          "properties": {"any": {"type": "array", "items": {"$ref": "#/definitions/when"}}},
          "additionalProperties": {
            "anyOf": [
              {"type": ["string", "number", "boolean", "array"]},
              {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "exists": {"type": "boolean"},
                  "is": {},
                  "not": {},
                  "begins": {"type": "string"},
                  "ends": {"type": "string"},
                  "contains": {"type": "string"},
                  "atLeast": {"type": "number"},
                  "below": {"type": "number"}
                }
              }
            ]
          }
        },
        "fields": {
          "type": "object",
          "description": "Paths, sources, or arrays of them, by the names of fields such as deviceId or params.price.",
          "additionalProperties": {
            "anyOf": [
              {"type": "null"},
              {"$ref": "#/definitions/source"},
              {"type": "array", "items": {"$ref": "#/definitions/source"}}
            ]
          }
        },
        "source": {
          "anyOf": [
            {"type": "string"},
            {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "path": {"$ref": "#/definitions/texts"},
                "constant": {},
                "table": {"type": ["string", "object"]},
                "default": {},
                "as": {"enum": ["text", "number", "boolean", "lowercase", "uppercase"]},
                "time": {"type": "string", "description": "automatic, seconds, milliseconds, microseconds, nanoseconds, or a pattern."},
                "zone": {"type": "string"},
                "prefix": {"type": "string"},
                "members": {"type": "string"},
                "others": {"type": "string"},
                "pairs": {"type": "string"},
                "key": {"type": "string"},
                "value": {"type": "string"},
                "except": {"$ref": "#/definitions/texts"},
                "only": {"$ref": "#/definitions/texts"},
                "rename": {"type": "object", "additionalProperties": {"type": "string"}},
                "flatten": {"type": "string"}
              }
            }
          ]
        }
      }
    }
    """##
}
