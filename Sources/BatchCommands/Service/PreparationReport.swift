import BatchFoundation

/// What was made at a service, or would be.
struct PreparationReport {
  struct Step {
    /// In one word.
    var action: String
    /// A list or table.
    var place: String
    var column: String
    var type: String
  }

  /// What the configuration has to say from now on.
  struct NewSetting {
    var name: String
    var value: String
  }

  var steps: [Step] = []
  var settings: [NewSetting] = []
  /// What only a person can put right.
  var problems: [String] = []
  /// What there is to know besides.
  var notes: [String] = []

  func document(isRehearsal: Bool) -> JSONNode {
    [
      "dryRun": .flag(isRehearsal),
      "steps": .array(
        steps.map {
          ["action": .text($0.action), "place": .text($0.place), "column": .text($0.column), "type": .text($0.type)]
        }),
      "settings": .object(settings.map { ($0.name, .text($0.value)) }),
      "problems": .texts(problems),
    ]
  }
}

/// How a service is prepared.
struct PreparationOptions {
  /// Only says what would be made.
  var isRehearsal: Bool
  /// Makes an audit table where the configuration names none.
  var makesAuditTable: Bool
}
