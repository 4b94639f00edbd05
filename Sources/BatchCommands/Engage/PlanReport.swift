import BatchFoundation
import BatchReport
import BatchStore
import Engage
import EngageRules

/// A merge plan as an operator sees it. Device and recipients are hashed and column values hidden unless requested
/// (reference decisions 66).
struct PlanReport {
  private let plan: MergePlan
  private let personal: PersonalData
  /// The record that requested a refused call; nil for other plans and if it was not kept.
  private var source: RecordSource?
  /// The command that repeats a refused call; nil for other plans.
  private var command: String?

  /// - Parameter store: The store of the plan.
  init(_ plan: MergePlan, of store: EventStore, _ personal: PersonalData) throws {
    self.init(plan, personal)
    guard plan.state == .refused else { return }
    source = try store.identities.recordSource(of: plan)
    command = plan.repetition(in: store)
  }

  init(_ plan: MergePlan, _ personal: PersonalData) {
    self.plan = plan
    self.personal = personal
  }

  static let columns = ["id", "state", "scenario", "recipients", "device", "reason"]

  var cells: [JSONNode] {
    [
      .number(plan.id), .text(plan.state.rawValue), .text(plan.scenario.rawValue), .text(recipients), .text(device),
      .text(reason),
    ]
  }

  var line: String {
    let end = reason.isEmpty ? "" : "  \(reason)"
    return
      "\(plan.id)  \(plan.state.rawValue)  \(plan.scenario.rawValue)  \(recipients)  device \(device.printable)\(end)"
  }

  private var device: String { id(plan.device) }

  private var showsValues: Bool { personal.policy == .clear }

  private func id(_ id: String) -> String { personal.id(id).text ?? "" }

  private var recipients: String {
    plan.loser.isIdentical(to: plan.winner) ? id(plan.loser) : "\(id(plan.loser)) -> \(id(plan.winner))"
  }

  private var reason: String {
    [
      plan.reason.isEmpty ? nil : "(\(plan.reason))", source.map { "\($0)" },
      command.map { "once the cause is fixed: \($0)" },
    ].compactMap(\.self).joined(separator: "  ")
  }

  var summary: JSONNode {
    let plan: JSONNode = [
      "id": .number(plan.id), "key": .text(plan.key), "state": .text(plan.state.rawValue),
      "scenario": .text(plan.scenario.rawValue), "reason": .text(plan.reason), "list": .text(plan.list),
      "loser": .text(id(plan.loser)), "winner": .text(id(plan.winner)), "device": .text(device),
      "created": .text(plan.created.rfc3339),
    ]
    return plan.adding(["source": source.map { .text("\($0)") }, "command": command.map { .text($0) }])
  }

  func lines(_ journal: [JournalLine]) -> [String] {
    var lines = [line, "  key \(plan.key), list \(plan.list), created \(plan.created.rfc3339), date \(plan.date)"]
    for id in plan.ids { lines.append("  searched \(id.name.printable): \(value(id.value))") }
    for step in plan.steps {
      let target = step.target.isEmpty ? "" : " \(self.target(of: step))"
      lines.append("  \(step.name.rawValue)\(target) [\(progress(of: step))]")
      for change in changes(of: step) {
        lines.append("    \(change.name.printable): \(value(change.before)) -> \(value(change.after))")
      }
    }
    lines.append("  journal: " + journal.map { "\($0.entry.rawValue) \($0.step)" }.joined(separator: ", "))
    return lines
  }

  func document(_ journal: [JournalLine]) -> JSONNode {
    summary.adding([
      "date": .text(plan.date),
      "searched": .array(plan.ids.map { ["column": .text($0.name), "value": .text(shown($0.value))] }),
      "steps": .array(
        plan.steps.map { step in
          [
            "step": .text(step.name.rawValue), "target": .text(target(of: step)), "progress": .text(progress(of: step)),
            "changes": .array(
              changes(of: step).map {
                ["column": .text($0.name), "before": .text(shown($0.before)), "after": .text(shown($0.after))]
              }),
          ]
        }),
      "journal": .array(journal.map { ["entry": .text($0.entry.rawValue), "step": .text($0.step)] }),
    ])
  }

  /// Returns the target, safe to show: a table's id names no person.
  private func target(of step: MergeStep) -> String {
    step.name == .audit || step.target.isEmpty ? step.target : id(step.target)
  }

  /// Returns the changes of a step. The last step changes the device's identity, and no column.
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

  /// Redacts a value. An empty one is not personal data, and distinguishes a clearing from a change.
  private func shown(_ value: String) -> String { value.isEmpty || showsValues ? value : "<redacted>" }

  private func value(_ value: String) -> String { showsValues ? "'\(value.printable)'" : "'\(shown(value))'" }
}

extension MergePlan {
  /// Returns the command that repeats a refused call at once; each run does so too.
  func repetition(in store: EventStore) -> String {
    ShellCommand("identity", "resume", String(id), "--store", store.path, "--job", "JOB").text
  }
}

extension EventStore {
  /// Returns the number of set-ups, checks and merges that the service refuses for good.
  func refusedIdentityPlans() throws -> Int { try merges.openPlans().count { $0.state == .refused } }
}
