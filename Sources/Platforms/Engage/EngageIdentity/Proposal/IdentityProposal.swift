package import BatchFoundation
import BatchStore

/// What a run would write, field by field: the document that `run --dry-run --online-plan` leaves and `run --plan` carries out.
///
/// It holds ids of people, so its file is for its owner only.
package struct IdentityProposal: Codable, Equatable, Sendable {
  /// One field of a recipient, of the audit table, or of the mapping of devices.
  package struct Change: Codable, Equatable, Sendable {
    package var device: String
    /// `create`, `location`, or the scenario of the plan.
    package var scenario: String
    /// The step that writes the field, or why nothing is written.
    package var rule: String
    /// A recipient's id, or `new:` and the mobile user id for one that does not exist yet; a table's id for an audit row.
    package var target: String
    package var column: String
    package var current: String
    package var new: String
  }

  package var version = 1
  package var list: String
  /// Milliseconds since 1970; all dates that are written are this one.
  package var date: Int64
  /// Of what the caller says the proposal rests on: job, configuration and inputs.
  package var inputs: String
  /// In the order in which devices were first seen and checks were made.
  package var changes: [Change]

  package var now: Instant { Instant(milliseconds: date) }
}

/// The service or the inputs have changed since the proposal was made; nothing was written.
package struct ProposalMismatch: RunError, Equatable, Sendable, CustomStringConvertible {
  package enum Difference: Equatable, Sendable {
    case list, inputs
    /// So many changes are new, and so many are not needed any more.
    case changes(added: Int, removed: Int)
  }

  package var difference: Difference

  package init(difference: Difference) { self.difference = difference }

  package var exit: RunExit { .inputRefused }

  package var description: String {
    switch difference {
    case .list: "error: the plan is for another list; nothing was written"
    case .inputs: "error: the inputs or the configuration have changed since the plan was made; nothing was written"
    case .changes(let added, let removed):
      "error: the service has changed since the plan was made (\(added) new changes, \(removed) gone); make a new plan. "
        + "Nothing was written"
    }
  }
}

extension IdentityReconciler {
  /// What ``reconcile()`` would do now. The service is only read, and the store is not changed.
  ///
  /// - Parameter inputs: a digest of job, configuration and inputs, compared when the proposal is carried out.
  package func propose(inputs: String) throws -> IdentityProposal {
    let copy = try store.rehearsalCopy()
    let rehearsal = RehearsalDatabase(remote)
    var reconciler = IdentityReconciler(
      store: copy, remote: rehearsal, settings: settings, patience: patience,
      run: try copy.beginRun(job: "", configurationDigest: "", started: now, asOf: now), now: now)
    reconciler.shouldEnd = shouldEnd
    reconciler.writesLocations = false
    reconciler.looksBeforeAdding = true
    // One after the other, so that the same service gives the same document.
    reconciler.settings.concurrency = 1
    let last = try copy.plans().last?.id ?? 0
    let result = try reconciler.reconcile()
    if let failure = result.failure { throw failure }
    var changes = rehearsal.added.flatMap { id, columns in
      columns.map {
        IdentityProposal.Change(
          device: "", scenario: "create", rule: "ADD_RECIPIENT", target: id, column: $0.name, current: "", new: $0.value
        )
      }
    }
    for plan in try copy.plans() where plan.id > last || plan.state == .done {
      if try store.plan(plan.id)?.state == plan.state { continue }
      changes += plan.proposedChanges { $0 }
    }
    for update in try reconciler.locationUpdates() {
      guard let image = try patience.reading({ () throws(RemoteFailure) in try rehearsal.read(update.recipient) })
      else { continue }
      changes += update.proposedChanges(on: image) { $0 }
    }
    return IdentityProposal(
      list: settings.list, date: now.milliseconds, inputs: inputs, changes: changes)
  }

  /// Carries out exactly what was proposed.
  ///
  /// First everything is read once more: if the outcome would be another, nothing is written. After that, a plan that was not
  /// proposed is left to an operator.
  ///
  /// - Throws: ``ProposalMismatch``, and what ``reconcile()`` throws.
  package func reconcile(_ proposal: IdentityProposal, inputs: String) throws -> IdentityResult {
    var reconciler = self
    reconciler.now = proposal.now
    guard proposal.list.isIdentical(to: settings.list) else { throw ProposalMismatch(difference: .list) }
    guard proposal.inputs.isIdentical(to: inputs) else { throw ProposalMismatch(difference: .inputs) }
    let fresh = try reconciler.propose(inputs: inputs)
    if fresh != proposal {
      let old = Set(proposal.changes.map(\.text))
      let new = Set(fresh.changes.map(\.text))
      throw ProposalMismatch(
        difference: .changes(added: new.subtracting(old).count, removed: old.subtracting(new).count))
    }
    reconciler.approval = Approval(proposal)
    reconciler.looksBeforeAdding = true
    return try reconciler.reconcile()
  }
}

/// The plans of a proposal, by what they write.
final class Approval: Sendable {
  private let changes: Set<ByteText>
  /// Without what was there before: a location replaces whatever it is.
  private let writes: Set<ByteText>

  init(_ proposal: IdentityProposal) {
    changes = Set(proposal.changes.map(\.text))
    writes = Set(proposal.changes.map(\.write.text))
  }

  /// - Parameter name: what stands in the proposal for a recipient's id.
  func covers(_ plan: MergePlan, naming name: (String) -> String) -> Bool {
    plan.proposedChanges(naming: name).allSatisfy { changes.contains($0.text) }
  }

  func covers(_ update: LocationUpdate, naming name: (String) -> String) -> Bool {
    update.proposedChanges(on: nil, naming: name).allSatisfy { writes.contains($0.write.text) }
  }
}

extension IdentityProposal.Change {
  fileprivate var write: IdentityProposal.Change {
    var write = self
    write.current = ""
    return write
  }

  var text: ByteText {
    ByteText([device, scenario, rule, target, column, current, new].map { "\($0.utf8.count):\($0)" }.joined())
  }
}

extension LocationUpdate {
  /// - Parameter name: as for a plan.
  func proposedChanges(
    on image: RecipientImage?, naming name: (String) -> String
  ) -> [IdentityProposal.Change] {
    columns.map { column in
      IdentityProposal.Change(
        device: location.device, scenario: "location", rule: "LAST_KNOWN_LOCATION", target: name(recipient),
        column: column.name, current: image?[column.name] ?? "", new: column.value)
    }
  }
}

extension MergePlan {
  /// - Parameter name: replaces the id of a recipient that was added in the same run by its name in the proposal.
  func proposedChanges(naming name: (String) -> String) -> [IdentityProposal.Change] {
    func change(_ rule: String, _ target: String, _ column: String, _ current: String, _ new: String)
      -> IdentityProposal.Change
    {
      IdentityProposal.Change(
        device: device, scenario: scenario.rawValue, rule: rule, target: target, column: column, current: current,
        new: new)
    }
    if state == .held || state == .dropped || state == .conflict {
      return [change("nothing: \(reason)", name(loser), "", "", "")]
    }
    var changes: [IdentityProposal.Change] = []
    for step in steps {
      switch step.name {
      case .verify: break
      case .publishMapping:
        changes.append(
          change(step.name.rawValue, "device", "Recipient Id", name(before.recipientId), name(after.recipientId)))
        changes.append(
          change(step.name.rawValue, "device", "Primary User Id", before.mobileUserId, after.mobileUserId))
      case .audit:
        // The key is made of the ids, of which one may not exist yet.
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
