import BatchFoundation
import BatchReport
import BatchStore
import Engage
import EngageRules

/// A merge plan as an operator sees it. The device and recipients are hashed and column values are hidden unless
/// requested (reference decisions 66).
struct PlanReport {
  private let plan: MergePlan
  private let personal: PersonalData
  /// The record that requested a refused call; nil for other plans and if the record was not kept.
  private var source: RecordSource?
  /// The command that repeats a refused call; nil for other plans.
  private var command: String?

  init(_ plan: MergePlan, of store: EventStore, _ personal: PersonalData) throws {
    self.plan = plan
    self.personal = personal
    guard plan.state == .refused else { return }
    source = try store.identities.recordSource(of: plan)
    command = plan.repetition(in: store)
  }

  static let columns = ["id", "state", "scenario", "recipients", "device", "reason"]

  var cells: [JSONNode] {
    [
      .number(plan.id), .text(plan.state.rawValue), .text(plan.scenario.rawValue), .text(recipients), .text(device),
      .text(reason),
    ]
  }

  private var device: String { id(plan.device) }

  private func id(_ id: String) -> String { personal.id(id).text ?? "" }

  private var recipients: String {
    plan.loser.isIdentical(to: plan.winner) ? id(plan.loser) : "\(id(plan.loser)) -> \(id(plan.winner))"
  }

  private var reason: String {
    [
      plan.reason.isEmpty ? nil : "(\(plan.reason))", source.map { "\($0)" },
      command.map { "fix the cause, then run: \($0)" },
    ].compactMap(\.self).joined(separator: "  ")
  }

  /// The plan in one line.
  var facts: Facts {
    var facts: Facts = [
      "id": .number(plan.id), "key": .text(plan.key), "state": .text(plan.state.rawValue),
      "scenario": .text(plan.scenario.rawValue), "reason": .text(plan.reason), "list": .text(plan.list),
      "loser": .text(id(plan.loser)), "winner": .text(id(plan.winner)), "device": .text(device),
      "created": .text(plan.created.rfc3339),
    ]
    let head = "\(plan.id)  \(plan.state.rawValue)  \(plan.scenario.rawValue)  \(recipients)  device \(device)"
    facts.add("source", source.map { .text("\($0)") }, head + (reason.isEmpty ? "" : "  \(reason)"))
    facts.add("command", command.map { .text($0) })
    return facts
  }

  /// The plan with its steps and its journal.
  func facts(_ journal: [JournalLine]) -> Facts {
    var facts = facts
    facts.add(
      "date", .text(plan.date),
      "  key \(plan.key), list \(plan.list), created \(plan.created.rfc3339), date \(plan.date)")
    facts.add(
      "searched", .array(plan.ids.map { ["column": .text($0.name), "value": .text(shown($0.value))] }),
      plan.ids.map { "  searched \($0.name): '\(shown($0.value))'" })
    let steps = plan.steps.map {
      ($0.name.rawValue, target: target(of: $0), progress(of: $0), changes: changes(of: $0))
    }
    facts.add(
      "steps",
      .array(
        steps.map { name, target, progress, changes in
          [
            "step": .text(name), "target": .text(target), "progress": .text(progress),
            "changes": .array(
              changes.map {
                ["column": .text($0.name), "before": .text(shown($0.before)), "after": .text(shown($0.after))]
              }),
          ]
        }),
      steps.flatMap { name, target, progress, changes in
        ["  \(name)\(target.isEmpty ? "" : " \(target)") [\(progress)]"]
          + changes.map { "    \($0.name): '\(shown($0.before))' -> '\(shown($0.after))'" }
      })
    facts.add(
      "journal", .array(journal.map { ["entry": .text($0.entry.rawValue), "step": .text($0.step)] }),
      "  journal: " + journal.map { "\($0.entry.rawValue) \($0.step)" }.joined(separator: ", "))
    return facts
  }

  /// Returns the target of a step. Recipients are hashed unless requested; a table's id names no person.
  private func target(of step: MergeStep) -> String {
    step.name == .audit || step.target.isEmpty ? step.target : id(step.target)
  }

  /// Returns the changes of a step. The last step changes the device's identity instead of columns.
  private func changes(of step: MergeStep) -> [ColumnChange] {
    guard step.name == .publishMapping else { return step.changes }
    return [
      ColumnChange(name: "Recipient Id", before: plan.before.recipientId, after: plan.after.recipientId),
      ColumnChange(name: "Primary User Id", before: plan.before.mobileUserId, after: plan.after.mobileUserId),
    ]
  }

  private func progress(of step: MergeStep) -> String {
    if step.isUndone { return "undone" }
    if step.isUndoStarted { return "undo started" }
    if step.isDone { return "done" }
    return step.isStarted ? "started" : "not started"
  }

  /// Redacts a value. An empty value is not personal data, and shows that a column is cleared rather than changed.
  private func shown(_ value: String) -> String {
    value.isEmpty || personal.policy == .clear ? value : "<redacted>"
  }
}

extension MergePlan {
  /// Returns the command that repeats a refused call immediately; each run repeats it too.
  func repetition(in store: EventStore) -> String {
    ShellCommand("identity", "resume", String(id), "--store", store.path, "--job", "JOB").text
  }
}

extension EventStore {
  /// Returns the number of set-ups, checks and merges that the service permanently refuses.
  func refusedIdentityPlans() throws -> Int { try merges.openPlans().count { $0.state == .refused } }
}
