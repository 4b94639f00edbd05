package import BatchFoundation
import BatchStore
import EngageRules

/// The writes of a run by field: the document that `run --dry-run --online-plan` creates and `run --plan` carries out.
/// It contains ids of people, so its file is readable only by its owner.
package struct IdentityChangePlan: Codable, Equatable, Sendable {
  /// A change to one field of a recipient, of the audit table, or of the mapping from devices to recipients.
  package struct Change: Codable, Equatable, Sendable {
    package var device: String
    /// `create`, `location`, or the scenario of a merge plan.
    package var scenario: String
    /// The step that writes the field, or the reason why nothing is written.
    package var rule: String
    /// The recipient's id, or `new:` and its mobile user id if it does not exist yet; the table's id for an audit row;
    /// `device` for the mapping.
    package var target: String
    package var column: String
    package var current: String
    package var new: String
  }

  package var version = 1
  package var list: String
  /// The date that all writes use, in milliseconds since 1970.
  package var date: Int64
  /// The digest of the job, the configuration and the inputs.
  package var inputs: String
  /// The added recipients, then the merges, then the locations, each in the order in which a run would write them.
  package var changes: [Change]

  package var now: Instant { Instant(milliseconds: date) }

  static let otherInputs = CommandError(
    .inputRefused,
    "error: the inputs or the configuration changed after the change plan was made; create a new one. Nothing was written"
  )
}

extension IdentityReconciler {
  /// Returns the changes that ``reconcile()`` would make now. The service is only read, and the store is not changed.
  ///
  /// - Parameter inputs: The digest of the job, the configuration and the inputs, compared when the change plan is
  ///   carried out.
  /// - Throws: ``ServiceSettingsError``, ``RemoteFailure``; errors of the store.
  package func changePlan(inputs: String) throws -> IdentityChangePlan {
    let copy = try store.planningCopy()
    let planning = PlanningDatabase(remote)
    var reconciler = IdentityReconciler(
      store: copy, remote: planning, settings: settings, retryPolicy: retryPolicy,
      run: try copy.runs.begin(job: "", configurationDigest: "", started: now, asOf: now), now: now)
    reconciler.shouldEnd = shouldEnd
    reconciler.writesLocations = false
    reconciler.looksBeforeAdding = true
    // Without concurrency, an unchanged service yields an identical document.
    reconciler.settings.concurrency = 1
    let log = RunLog()
    let result = try reconciler.reconcile(log)
    if let failure = result.failure { throw failure }
    var changes = planning.added.flatMap { id, columns in
      columns.map {
        IdentityChangePlan.Change(
          device: log.owner(of: id), scenario: "create", rule: "ADD_RECIPIENT", target: id, column: $0.name,
          current: "", new: $0.value
        )
      }
    }
    for plan in try copy.merges.plans() {
      if try store.merges.plan(plan.id)?.state == plan.state { continue }
      changes += plan.plannedChanges { $0 }
    }
    for update in try reconciler.locationUpdates().due {
      guard let image = try retryPolicy.repeating({ () throws(RemoteFailure) in try planning.read(update.recipient) })
      else { continue }
      changes += update.plannedChanges(on: image) { $0 }
    }
    return IdentityChangePlan(
      list: settings.list, date: now.milliseconds, inputs: inputs, changes: changes)
  }

  /// Carries out exactly the proposed changes. Everything is read again first, and nothing is written if the outcome
  /// would differ. Merges that turn out differently after that are left to an operator.
  ///
  /// - Throws: ``CommandError`` if the list, the inputs or the changes differ from those in the change plan, and the errors of ``reconcile()``.
  package func reconcile(_ changePlan: IdentityChangePlan, inputs: String) throws -> IdentityResult {
    var reconciler = self
    reconciler.now = changePlan.now
    guard changePlan.list.isIdentical(to: settings.list) else {
      throw CommandError(.inputRefused, "error: the change plan is for another list; nothing was written")
    }
    guard changePlan.inputs.isIdentical(to: inputs) else { throw IdentityChangePlan.otherInputs }
    let fresh = try reconciler.changePlan(inputs: inputs)
    if fresh != changePlan {
      let old = Set(changePlan.changes.map(\.text))
      let new = Set(fresh.changes.map(\.text))
      let (added, removed) = (new.subtracting(old).count, old.subtracting(new).count)
      throw CommandError(
        .inputRefused,
        "error: the service or the store has changed since the change plan was made (changes added: \(added), removed: \(removed)); create a new one. "
          + "Nothing was written")
    }
    reconciler.plannedChanges = PlannedChanges(changePlan)
    reconciler.looksBeforeAdding = true
    return try reconciler.reconcile()
  }
}

/// The changes in a change plan; a merge that would write anything else is not carried out.
final class PlannedChanges: Sendable {
  private let changes: Set<ByteText>
  /// The changes without previous values: a location replaces any value.
  private let writes: Set<ByteText>

  init(_ changePlan: IdentityChangePlan) {
    changes = Set(changePlan.changes.map(\.text))
    writes = Set(changePlan.changes.map(\.write.text))
  }

  /// - Parameter name: Returns the name that the change plan uses for a recipient's id.
  func covers(_ plan: MergePlan, naming name: (String) -> String) -> Bool {
    plan.plannedChanges(naming: name).allSatisfy { changes.contains($0.text) }
  }

  func covers(_ update: LocationUpdate, naming name: (String) -> String) -> Bool {
    update.plannedChanges(on: nil, naming: name).allSatisfy { writes.contains($0.write.text) }
  }
}

extension IdentityChangePlan.Change {
  fileprivate var write: IdentityChangePlan.Change {
    var write = self
    write.current = ""
    return write
  }

  var text: ByteText {
    ByteText([device, scenario, rule, target, column, current, new].map { "\($0.utf8.count):\($0)" }.joined())
  }
}

extension LocationUpdate {
  func plannedChanges(
    on image: RecipientImage?, naming name: (String) -> String
  ) -> [IdentityChangePlan.Change] {
    columns.map { column in
      IdentityChangePlan.Change(
        device: location.device, scenario: "location", rule: "LAST_KNOWN_LOCATION", target: name(recipient),
        column: column.name, current: image?[column.name] ?? "", new: column.value)
    }
  }
}

extension MergePlan {
  /// - Parameter name: Returns the name that the change plan uses for a recipient's id, if the recipient is added in
  ///   the same run.
  func plannedChanges(naming name: (String) -> String) -> [IdentityChangePlan.Change] {
    func change(_ rule: String, _ target: String, _ column: String, _ current: String, _ new: String)
      -> IdentityChangePlan.Change
    {
      IdentityChangePlan.Change(
        device: device, scenario: scenario.rawValue, rule: rule, target: target, column: column, current: current,
        new: new)
    }
    if state == .held || state == .dropped || state == .conflict {
      return [change("nothing: \(reason)", name(loser), "", "", "")]
    }
    var changes: [IdentityChangePlan.Change] = []
    for step in steps {
      switch step.name {
      case .verify: break
      case .publishMapping:
        changes.append(
          change(step.name.rawValue, "device", "Recipient Id", name(before.recipientId), name(after.recipientId)))
        changes.append(
          change(step.name.rawValue, "device", "Primary User Id", before.mobileUserId, after.mobileUserId))
      case .audit:
        // The key is omitted, because it derives from the ids, one of which may not exist yet.
        changes += step.changes.dropFirst().map { change(step.name.rawValue, step.target, $0.name, "", name($0.after)) }
      default:
        changes += step.changes.map {
          change(step.name.rawValue, name(step.target), $0.name, name($0.before), name($0.after))
        }
      }
    }
    return changes
  }
}
