import BatchFoundation

/// The things created at a service, or that would be.
struct PreparationReport {
  struct Step {
    /// The action in one word.
    var action: String
    /// The list or table.
    var place: String
    var column: String
    var type: String
  }

  /// A setting that the configuration needs from now on.
  struct NewSetting {
    var name: String
    var value: String
  }

  var steps: [Step] = []
  var settings: [NewSetting] = []
  /// Problems that only a person can fix.
  var problems: [String] = []
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

struct PreparationOptions {
  /// Whether only to report what would be created.
  var isRehearsal: Bool
  /// Whether to create an audit table if the configuration names none.
  var makesAuditTable: Bool
}
