import BatchFoundation
import BatchReport

/// The things created at a service, or that would be.
struct PreparationReport {
  /// The steps: the action in one word, then the list or table.
  var steps: [(action: String, place: String, column: String, type: String)] = []
  /// The settings that the configuration needs from now on.
  var settings: [(name: String, value: String)] = []
  /// Problems that only a person can fix.
  var problems: [String] = []
  var notes: [String] = []

  func facts(isRehearsal: Bool) -> Facts {
    var facts: Facts = [
      "dryRun": .flag(isRehearsal),
      "steps": .array(
        steps.map {
          ["action": .text($0.action), "place": .text($0.place), "column": .text($0.column), "type": .text($0.type)]
        }),
      "settings": .object(settings.map { ($0.name, .text($0.value)) }), "problems": .texts(problems),
    ]
    for step in steps {
      let key = step.action == "addKeyColumn" ? ", the key" : ""
      facts.addLine(step.place, step.column, step.type + key, isRehearsal ? "would be made" : "made")
    }
    facts.note(settings.map { "set \($0.name) to \($0.value) in the configuration" } + notes)
    if steps.isEmpty, problems.isEmpty, notes.isEmpty { facts.note("nothing is missing") }
    return facts
  }
}

struct PreparationOptions {
  /// Whether only to report what would be created.
  var isRehearsal: Bool
  /// Whether to create an audit table if the configuration names none.
  var makesAuditTable: Bool
}
