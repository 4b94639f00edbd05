extension DocumentSchema {
  /// The report of a run for programs (`docs/report-format.md`).
  static let reportText = ##"""
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": "engage-batch report of a run (report.json)",
      "description": "Keys may be added; reportVersion is raised when one goes away or changes its meaning.",
      "type": "object",
      "required": [
        "reportVersion",
        "job",
        "jobFile",
        "mode",
        "destination",
        "sandbox",
        "startedAt",
        "asOf",
        "knownUntil",
        "window",
        "exitCode",
        "failure",
        "store",
        "personalData",
        "configuration",
        "summary",
        "activity",
        "upload",
        "unsent",
        "quarantine",
        "warnings",
        "unknownFields",
        "identity",
        "decidedByPolicy",
        "stages",
        "notes",
        "toDo"
      ],
      "properties": {
        "reportVersion": {"enum": [1]},
        "job": {"type": "string"},
        "jobFile": {"type": "string"},
        "mode": {"enum": ["run", "dry-run", "no-upload", "post"]},
        "destination": {"enum": ["engage", "deltadna", "unity"]},
        "sandbox": {"type": "boolean"},
        "startedAt": {
          "type": "string",
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
        },
        "asOf": {
          "type": "string",
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
        },
        "knownUntil": {
          "type": ["string", "null"],
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
        },
        "window": {
          "type": "object",
          "required": ["from", "to"],
          "properties": {
            "from": {
              "type": ["string", "null"],
              "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
            },
            "to": {
              "type": ["string", "null"],
              "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
            }
          }
        },
        "exitCode": {"type": "integer", "minimum": 0, "maximum": 255},
        "failure": {"type": ["string", "null"]},
        "store": {"type": ["string", "null"]},
        "personalData": {"enum": ["omit", "hash", "clear"]},
        "configuration": {
          "type": "object",
          "required": ["digest", "layers"],
          "properties": {
            "digest": {"type": "string"},
            "layers": {"type": "array", "items": {"type": "string"}},
            "settings": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["name", "value", "origin"],
                "properties": {"name": {"type": "string"}, "value": {"type": "string"}, "origin": {"type": "string"}}
              }
            }
          }
        },
        "summary": {"$ref": "#/definitions/summary"},
        "activity": {
          "type": "object",
          "required": ["events", "sessions", "sessionLengths", "campaigns", "otherCampaigns"],
          "properties": {
            "events": {"type": "array", "items": {"type": "object", "required": ["type", "firstDay", "perDay"]}},
            "sessions": {"type": "object", "required": ["started", "ended"]},
            "sessionLengths": {"type": "array", "items": {"type": "object", "required": ["length", "sessions"]}},
            "campaigns": {
              "type": "array",
              "items": {"type": "object", "required": ["name", "set", "expired", "events", "firstSet", "until", "timeline"]}
            },
            "otherCampaigns": {"type": "object", "required": ["set", "expired", "events"]}
          }
        },
        "upload": {
          "type": "object",
          "required": ["possibleDuplicates", "recoveredChunks", "attempts", "answers", "stop"],
          "properties": {
            "possibleDuplicates": {"type": "integer", "minimum": 0},
            "recoveredChunks": {"type": "integer", "minimum": 0},
            "attempts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
            "answers": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["share", "seconds"],
                "properties": {"share": {"enum": ["half", "95 of 100", "all"]}, "seconds": {"type": "number", "minimum": 0}}
              }
            },
            "stop": {"type": ["string", "null"]}
          }
        },
        "unsent": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["status", "events", "reason", "setting", "ends"],
            "properties": {
              "status": {"type": "string"},
              "events": {"type": "integer", "minimum": 0},
              "reason": {"type": "string"},
              "setting": {"type": "string"},
              "ends": {"type": "string"}
            }
          }
        },
        "quarantine": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["file", "line", "offset", "reason", "detail"],
            "properties": {
              "file": {"type": "string"},
              "line": {"type": "integer", "minimum": 0},
              "offset": {"type": "integer", "minimum": 0},
              "reason": {"type": "string"},
              "detail": {"type": "string"},
              "content": {"type": "string"}
            }
          }
        },
        "warnings": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["kind", "occurrences", "first"],
            "properties": {
              "kind": {"type": "string"},
              "occurrences": {"type": "integer", "minimum": 0},
              "first": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["file", "line", "detail"],
                  "properties": {
                    "device": {"type": "string"},
                    "file": {"type": "string"},
                    "line": {"type": "integer", "minimum": 0},
                    "detail": {"type": "string"}
                  }
                }
              }
            }
          }
        },
        "unknownFields": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["name", "records"],
            "properties": {"name": {"type": "string"}, "records": {"type": "integer", "minimum": 0}}
          }
        },
        "identity": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["plan", "scenario", "state", "reason"],
            "properties": {
              "plan": {"type": "integer", "minimum": 0},
              "scenario": {"type": "string"},
              "words": {"type": "string"},
              "state": {"type": "string"},
              "device": {"type": "string"},
              "loser": {"type": "string"},
              "winner": {"type": "string"},
              "reason": {"type": "string"},
              "source": {"type": "string", "description": "File and line of the record that asked for it."}
            }
          }
        },
        "decidedByPolicy": {"type": "integer", "minimum": 0},
        "stages": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["name", "seconds"],
            "properties": {"name": {"type": "string"}, "seconds": {"type": "number", "minimum": 0}}
          }
        },
        "notes": {"type": "array", "items": {"type": "string"}},
        "toDo": {"type": "array", "items": {"type": "string"}}
      },
      "definitions": {
        "summary": {
          "type": "object",
          "required": [
            "records",
            "quarantineReasons",
            "events",
            "sessions",
            "campaigns",
            "upload",
            "identity",
            "store",
            "durationSeconds"
          ],
          "properties": {
            "records": {
              "type": "object",
              "required": ["read", "accepted", "duplicates", "outOfWindow", "quarantined"],
              "properties": {
                "read": {"type": "integer", "minimum": 0},
                "accepted": {"type": "integer", "minimum": 0},
                "duplicates": {"type": "integer", "minimum": 0},
                "outOfWindow": {"type": "integer", "minimum": 0},
                "quarantined": {"type": "integer", "minimum": 0},
                "leftOut": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "What maps left out; absent without maps."
                }
              }
            },
            "leftOutReasons": {
              "type": "object",
              "additionalProperties": {"type": "integer", "minimum": 0},
              "description": "What maps left out, by reason; absent without maps."
            },
            "quarantineReasons": {
              "type": "object",
              "additionalProperties": {"type": "integer", "minimum": 0},
              "description": "Lines by reason."
            },
            "events": {
              "type": "object",
              "required": ["total", "byType"],
              "properties": {
                "total": {"type": "integer", "minimum": 0},
                "byType": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                "others": {"type": "integer", "minimum": 0}
              }
            },
            "sessions": {
              "type": "object",
              "required": ["started", "ended"],
              "properties": {"started": {"type": "integer", "minimum": 0}, "ended": {"type": "integer", "minimum": 0}}
            },
            "campaigns": {
              "type": "object",
              "required": ["set", "expired"],
              "properties": {"set": {"type": "integer", "minimum": 0}, "expired": {"type": "integer", "minimum": 0}}
            },
            "upload": {
              "type": "object",
              "required": ["chunks", "eventsPosted", "eventsFailed", "eventsPending", "eventsUnknown", "requests", "retries"],
              "properties": {
                "chunks": {"type": "integer", "minimum": 0},
                "eventsPosted": {"type": "integer", "minimum": 0},
                "eventsFailed": {"type": "integer", "minimum": 0},
                "eventsPending": {"type": "integer", "minimum": 0},
                "eventsUnknown": {"type": "integer", "minimum": 0},
                "requests": {"type": "integer", "minimum": 0},
                "retries": {"type": "integer", "minimum": 0}
              }
            },
            "identity": {
              "type": "object",
              "required": ["checks", "created", "updated", "merged", "conflicts", "auditRows"],
              "properties": {
                "checks": {"type": "integer", "minimum": 0},
                "created": {"type": "integer", "minimum": 0},
                "updated": {"type": "integer", "minimum": 0},
                "merged": {"type": "integer", "minimum": 0},
                "conflicts": {"type": "integer", "minimum": 0},
                "auditRows": {"type": "integer", "minimum": 0},
                "refused": {"type": "integer", "minimum": 1, "description": "Left out where nothing was refused."}
              }
            },
            "store": {
              "type": "object",
              "additionalProperties": {"type": "integer", "minimum": 0},
              "description": "Events by status, over the whole store."
            },
            "durationSeconds": {"type": "number", "minimum": 0}
          },
          "description": "Also what --summary writes."
        }
      }
    }
    """##
}
