package import BatchFoundation
import BatchReport
import BatchStore
package import EngageRules

/// The result of an identity check, a set-up or an instruction (reference identity 5.3). Operators see the raw values.
package enum MergeScenario: String, CaseIterable, Sendable {
  /// The recipient of the device gets a mobile user id (5.2, row 5).
  case register
  /// S1: nobody has the ids; the recipient of the device gets them.
  case setIds = "set-ids"
  /// Sb: the recipient of the device has the ids and gets the mobile user id.
  case setMobileUserId = "set-mobile-user-id"
  /// S2: another recipient has the ids and takes over the mobile user id.
  case moveMobileUserId = "move-mobile-user-id"
  /// S3: another recipient has the ids and a different mobile user id.
  case markMerged = "mark-merged"
  /// Two known customers: the device is reassigned, and nobody is marked.
  case reassign
  /// The recipient is added to a contact list or a program, or opted out of mailings or in again (5.7).
  case contactList = "contact-list"
  case program
  case optOut = "opt-out"
  case optIn = "opt-in"
  /// The recipient gets the last known location of a device (reference events 5.4).
  case location
  /// The device gets a recipient (5.2); there is a plan only if the service refuses the set-up.
  case setUp = "set-up"
  /// The check was not carried out; the plan's reason says why.
  case none

  /// The effect in words, for reports.
  package var words: String {
    switch self {
    case .register: "the recipient gets the device's mobile user id"
    case .setIds: "the recipient gets these ids, which no recipient had"
    case .setMobileUserId: "the recipient with these ids gets the device's mobile user id"
    case .moveMobileUserId: "merged into the recipient with these ids, which takes over the mobile user id"
    case .markMerged: "merged into the recipient with these ids"
    case .reassign: "the device moves to the recipient with these ids; no recipient is merged"
    case .contactList: "the recipient is added to a contact list"
    case .program: "the recipient is added to a program"
    case .optOut: "the recipient opts out of mailings"
    case .optIn: "the recipient opts in to mailings again"
    case .location: "the recipient gets its last known location"
    case .setUp: "the device gets a recipient"
    case .none: "nothing was changed"
    }
  }

  /// Whether one recipient is merged into another.
  package var isMerge: Bool { self == .moveMobileUserId || self == .markMerged }

  /// Whether the scenario is a record's instruction or a location, which does not affect the device's identity.
  package var isInstruction: Bool {
    switch self {
    case .contactList, .program, .optOut, .optIn, .location: true
    case .register, .setIds, .setMobileUserId, .moveMobileUserId, .markMerged, .reassign, .setUp, .none: false
    }
  }

  /// Whether the scenario can be undone: the API cannot remove a recipient from a contact list or a program.
  package var canBeUndone: Bool { self != .contactList && self != .program }
}

/// The state of a plan.
package enum MergeState: String, CaseIterable, Sendable {
  /// Being carried out, or interrupted: the next run continues it.
  case open
  /// An operator must decide, for example because somebody else wrote to a recipient; nothing is done until then.
  case conflict
  /// Left to an operator by policy; no step was started.
  case held
  /// The service permanently refused a call or answered it wrongly; each run tries again (reference decisions 37).
  /// Earlier steps were undone, unless a wrong response leaves their state open.
  case refused
  /// Being undone, or interrupted while being undone: the next run continues.
  case undoing
  case done
  case undone
  /// Ended without completion: ruled out by policy or data, abandoned, or obsolete because its check or set-up was
  /// processed again.
  case dropped

  package var isEnded: Bool { self == .done || self == .undone || self == .dropped }
}

/// The cause of an undo, which determines what happens to the check. The raw values are stored.
package enum UndoCause: String, CaseIterable, Sendable {
  /// Requested by an operator: the same merge is not made again, and the check counts as finished.
  case `operator`
  /// The service permanently refused a step: the next run processes the check again.
  case refusedStep = "refused-step"
}

/// The steps of all scenarios, in the order of the specification (5.6); the raw values are stored in the journal.
package enum MergeStepName: String, CaseIterable, Sendable {
  case setIds = "SET_IDS"
  case setMobileUserId = "SET_MOBILE_ID"
  case setLocation = "SET_LOCATION"
  case markLoser = "MARK_LOSER"
  case moveIdToWinner = "MOVE_ID_TO_WINNER"
  case clearIdOnLoser = "CLEAR_ID_ON_LOSER"
  case verify = "VERIFY"
  case audit = "AUDIT"
  case publishMapping = "PUBLISH_MAPPING"
  case addToContactList = "ADD_TO_CONTACT_LIST"
  case addToProgram = "ADD_TO_PROGRAM"
  case optOut = "OPT_OUT"
  case optIn = "OPT_IN"

  package static let undoPrefix = "UNDO_"

  /// Whether the step changes recipient columns that plans compare; false for a location.
  package var isUpdate: Bool {
    switch self {
    case .setIds, .setMobileUserId, .markLoser, .moveIdToWinner, .clearIdOnLoser: true
    case .setLocation, .verify, .audit, .publishMapping, .addToContactList, .addToProgram, .optOut, .optIn: false
    }
  }
}

/// The value in a column of a recipient or audit row before and after a step.
package struct ColumnChange: Sendable, Hashable {
  package var name: String
  package var before: String
  package var after: String
  /// Whether the value is a date, which the service may format differently; it counts only as present or missing.
  package var isDate: Bool

  package init(name: String, before: String, after: String, isDate: Bool = false) {
    self.name = name
    self.before = before
    self.after = after
    self.isDate = isDate
  }

  package var reversed: ColumnChange { ColumnChange(name: name, before: after, after: before, isDate: isDate) }
}

package struct MergeStep: Sendable, Equatable {
  package var name: MergeStepName
  /// The recipient to write to, or the subject of an instruction; the table of an audit row. Empty for other steps.
  package var target: String
  /// The changes; for the audit row all columns, with the key first and empty values before the step.
  package var changes: [ColumnChange]
  package var isStarted = false
  package var isDone = false
  package var isUndoStarted = false
  package var isUndone = false

  package init(_ name: MergeStepName, target: String = "", changes: [ColumnChange] = []) {
    self.name = name
    self.target = target
    self.changes = changes
  }

  /// Creates the step of an instruction, with the service's parameter as its only change.
  init(_ instruction: ContactInstruction, of recipient: String) {
    let (_, name, parameter, before, after) = instruction.step
    self.init(name, target: recipient, changes: [ColumnChange(name: parameter, before: before, after: after)])
  }

  /// The instruction; nil for a step that changes columns, rows or a device's identity.
  package var instruction: ContactInstruction? {
    switch name {
    case .addToContactList: .contactList(changes.first?.after ?? "")
    case .addToProgram: .program(changes.first?.after ?? "")
    case .optOut: .optOut
    case .optIn: .optIn
    default: nil
    }
  }
}

extension ContactInstruction {
  /// The scenario, the step, and the service's parameter with its values before and after.
  var step: (scenario: MergeScenario, name: MergeStepName, parameter: String, before: String, after: String) {
    switch self {
    case .contactList(let id): (.contactList, .addToContactList, "CONTACT_LIST_ID", "", id)
    case .program(let id): (.program, .addToProgram, "PROGRAM_ID", "", id)
    case .optOut: (.optOut, .optOut, "OPT_OUT", "false", "true")
    case .optIn: (.optIn, .optIn, "OPT_OUT", "true", "false")
    }
  }
}

/// The identity of a device at the service.
package struct DeviceIdentity: Sendable, Equatable {
  package var recipientId = ""
  package var mobileUserId = ""

  package static func == (one: DeviceIdentity, other: DeviceIdentity) -> Bool {
    one.recipientId.isIdentical(to: other.recipientId) && one.mobileUserId.isIdentical(to: other.mobileUserId)
  }
}

/// All writes of one check, fixed before the first one, with the previous values for undoing (reference identity 5.6).
package struct MergePlan: Sendable, Equatable {
  /// The number of the plan; 0 until the plan is stored.
  package var id: Int64 = 0
  /// The UUIDv5 of the list, the loser, the winner and the number of their earlier merges; also the key of the audit
  /// row.
  package var key: String
  package var scenario: MergeScenario
  package var state = MergeState.open
  /// The reason why the plan stopped, without recorded values; empty otherwise.
  package var reason = ""
  /// The cause of the undo; nil if none has begun.
  package var undoCause: UndoCause?
  /// Whether an undo keeps the audit row and adds a second one with exchanged roles (reference decisions 65).
  package var keepsAuditHistory = false
  package var list: String
  package var loser: String
  /// The winner; equal to the loser if only one recipient is concerned.
  package var winner: String
  /// The date that all of the plan's writes carry.
  package var date: String
  package var device: String
  package var checkId: Int64?
  /// The emission number after which the device's events carry the result.
  package var emission: Int64
  package var ids: [ColumnValue]
  package var before: DeviceIdentity
  package var after: DeviceIdentity
  package var created: Instant
  package var steps: [MergeStep]

  /// The recipients that the plan locks, unique and in locking order. Instructions lock none, because they change no
  /// columns that merges compare, and must not delay merges.
  package var recipients: [String] {
    scenario.isInstruction
      ? []
      : Set([ByteText(loser), ByteText(winner)]).sorted { ($0.string.utf8.count, $0) < ($1.string.utf8.count, $1) }
        .map(\.string).filter { !$0.isEmpty }
  }

  /// Whether steps were started and not undone.
  package var isUnderWay: Bool { steps.contains { $0.isStarted && !$0.isUndone && $0.name != .verify } }

  /// Whether the plan keeps its recipients locked against other plans.
  var holdsLocks: Bool { !state.isEnded && (state != .refused || isUnderWay) }

  package func index(of name: MergeStepName) -> Int? { steps.firstIndex { $0.name == name } }
}

package struct JournalLine: Sendable, Equatable {
  package enum Entry: String, Sendable {
    case plan, start, done, conflict, undo, end
  }

  package var entry: Entry
  /// The step, prefixed with `UNDO_` when undoing; the key for `plan` and `undo`; the outcome for `end`.
  package var step: String

  package init(_ entry: Entry, _ step: String) {
    self.entry = entry
    self.step = step
  }

  package init(_ entry: Entry, _ name: MergeStepName, undo: Bool) {
    self.init(entry, undo ? MergeStepName.undoPrefix + name.rawValue : name.rawValue)
  }
}

extension IdentityMerge {
  /// The maximum number of plans in a report; the summary has the total.
  private static let shown = 200

  /// Returns the plans that a run made and the `earlier` plans that it continued, unfinished ones first.
  static func merges(
    in store: EventStore, of run: RunID, earlier: [Int64], _ policy: PersonalDataPolicy
  ) throws -> [IdentityMerge] {
    let personal = PersonalData(policy, key: try store.runs.reportKey())
    return try store.merges.plans(of: run, or: earlier, limit: shown).map { plan in
      let source =
        plan.state == .refused ? try store.identities.recordSource(of: plan) : nil
      return IdentityMerge(plan, source.map { "\($0)" } ?? "", personal)
    }
  }

  private init(_ plan: MergePlan, _ source: String, _ personal: PersonalData) {
    self.init(
      plan: plan.id, scenario: plan.scenario.rawValue, words: plan.scenario.words, state: plan.state.rawValue,
      device: personal.id(plan.device), loser: personal.id(plan.loser), winner: personal.id(plan.winner),
      reason: plan.reason, source: source)
  }
}

extension NameUUID {
  /// Returns the key of a merge (or of its undoing) and of its audit row. `earlier` is the number of earlier merges of
  /// the same two recipients. The same merge has the same key, so writing the row again replaces it (reference identity
  /// 5.5).
  static func mergeKey(list: String, loser: String, winner: String, earlier: Int, undo: Bool = false) -> String {
    let number = earlier == 0 ? "" : "|\(earlier)"
    return NameUUID.oid.uuid(named: "engage-merge|\(list)|\(loser)|\(winner)\(number)\(undo ? "|undo" : "")").text
  }
}
