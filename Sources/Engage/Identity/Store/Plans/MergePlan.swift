package import BatchFoundation
import BatchStore
package import EngageRules

/// Which way an identity check went, or what was asked for a recipient (reference identity 5.3); the raw values are what an operator reads.
package enum MergeScenario: String, CaseIterable, Sendable {
  /// The recipient of the device gets a mobile user id (5.2, row 5).
  case register
  /// S1: nobody has the ids, the recipient of the device gets them.
  case setIds = "set-ids"
  /// Sb: the recipient of the device has the ids and gets the mobile user id.
  case setMobileUserId = "set-mobile-user-id"
  /// S2: another recipient has the ids and takes over the mobile user id.
  case moveMobileUserId = "move-mobile-user-id"
  /// S3: another recipient has the ids and a mobile user id of its own.
  case markMerged = "mark-merged"
  /// Two known customers: the device moves over, nobody is marked.
  case reassign
  /// The recipient goes into a contact list or a program, off the mailings, or on them again (5.7).
  case contactList = "contact-list"
  case program
  case optOut = "opt-out"
  case optIn = "opt-in"
  /// The recipient gets the last known place of a device (reference events 5.4).
  case location
  /// The device gets a recipient (5.2); a plan only where the service refuses it.
  case setUp = "set-up"
  /// The check was not carried out; the plan's reason says why.
  case none

  /// What happens, as people read it.
  package var words: String {
    switch self {
    case .register: "the recipient gets the device's mobile user id"
    case .setIds: "nobody had these ids: the recipient gets them"
    case .setMobileUserId: "the recipient gets its mobile user id"
    case .moveMobileUserId: "merged into the recipient with these ids, which takes over the mobile user id"
    case .markMerged: "merged into the recipient with these ids"
    case .reassign: "the device moves to the recipient with these ids; nobody is merged"
    case .contactList: "the recipient goes into a contact list"
    case .program: "the recipient goes into a program"
    case .optOut: "the recipient opts out of mailings"
    case .optIn: "the recipient opts in to mailings again"
    case .location: "the recipient gets its last known place"
    case .setUp: "the device gets a recipient"
    case .none: "nothing was changed"
    }
  }

  /// Whether one recipient goes up in another.
  package var isMerge: Bool { self == .moveMobileUserId || self == .markMerged }

  /// Whether it says nothing of who the device is: what a record asks for its recipient, and its place.
  package var isInstruction: Bool {
    switch self {
    case .contactList, .program, .optOut, .optIn, .location: true
    case .register, .setIds, .setMobileUserId, .moveMobileUserId, .markMerged, .reassign, .setUp, .none: false
    }
  }

  /// The API has no way to take a recipient out of a contact list or a program.
  package var canBeUndone: Bool { self != .contactList && self != .program }

  package init(_ instruction: ContactInstruction) {
    switch instruction {
    case .contactList: self = .contactList
    case .program: self = .program
    case .optOut: self = .optOut
    case .optIn: self = .optIn
    }
  }
}

/// Where a plan stands.
package enum MergeState: String, CaseIterable, Sendable {
  /// Being carried out, or interrupted: the next run continues with it.
  case open
  /// Somebody else wrote to one of the recipients, or an operator has to decide; nothing is done until then.
  case conflict
  /// Left to an operator by policy; no step was started.
  case held
  /// The service refuses a call for good, or answers it wrongly; each run makes it again (reference decisions 37). What was done before is
  /// taken back, unless a wrong answer leaves open what that would do.
  case refused
  /// Being taken back, or interrupted at it: the next run continues.
  case undoing
  case done
  case undone
  /// Ended without a step: the check was decided anew, or refused for good.
  case dropped

  package var isEnded: Bool { self == .done || self == .undone || self == .dropped }
}

/// Why a plan is taken back, which says what becomes of its check; the raw values stand in the store.
package enum UndoCause: String, CaseIterable, Sendable {
  /// An operator asked for it: the same merge is not made again and the check counts as finished.
  case `operator`
  /// The service refuses one of its steps for good: the next run decides the check anew.
  case refusedStep = "refused-step"
}

/// The steps of all scenarios, in the order of the specification (5.6); the raw values stand in the journal.
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

  /// Whether it changes columns of a recipient.
  package var isUpdate: Bool {
    switch self {
    case .setIds, .setMobileUserId, .markLoser, .moveIdToWinner, .clearIdOnLoser: true
    case .setLocation, .verify, .audit, .publishMapping, .addToContactList, .addToProgram, .optOut, .optIn: false
    }
  }
}

/// One column of a recipient, or of the audit row, before and after a step.
package struct ColumnChange: Sendable, Hashable {
  package var name: String
  package var before: String
  package var after: String
  /// The service may write the date in another form, so a date only counts as there or not there.
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
  /// The recipient that is written to, or for which something is asked; for the audit row its table. Empty for the others.
  package var target: String
  /// For the audit row all columns, the key first, with empty values before.
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

  /// What is asked for a recipient, written as the parameter of the service that says it.
  package init(_ instruction: ContactInstruction, of recipient: String) {
    switch instruction {
    case .contactList(let id):
      self.init(
        .addToContactList, target: recipient, changes: [ColumnChange(name: "CONTACT_LIST_ID", before: "", after: id)])
    case .program(let id):
      self.init(.addToProgram, target: recipient, changes: [ColumnChange(name: "PROGRAM_ID", before: "", after: id)])
    case .optOut:
      self.init(.optOut, target: recipient, changes: [ColumnChange(name: "OPT_OUT", before: "false", after: "true")])
    case .optIn:
      self.init(.optIn, target: recipient, changes: [ColumnChange(name: "OPT_OUT", before: "true", after: "false")])
    }
  }

  /// Nil for a step that changes columns, rows or who a device is.
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

/// Who a device is to the service.
package struct DeviceIdentity: Sendable, Equatable {
  package var recipientId = ""
  package var mobileUserId = ""

  package static func == (one: DeviceIdentity, other: DeviceIdentity) -> Bool {
    one.recipientId.isIdentical(to: other.recipientId) && one.mobileUserId.isIdentical(to: other.mobileUserId)
  }
}

/// Everything one check is going to write, fixed before the first write, with the images to go back to (reference identity 5.6).
package struct MergePlan: Sendable, Equatable {
  /// 0 until it is stored.
  package var id: Int64 = 0
  /// UUIDv5 of list, loser and winner; also the key of the audit row.
  package var key: String
  package var scenario: MergeScenario
  package var state = MergeState.open
  /// Why it stopped, without values; empty otherwise.
  package var reason = ""
  /// Nil until it is taken back.
  package var undoCause: UndoCause?
  /// Taken back, it leaves its audit row and a second one with the roles exchanged (reference decisions 65).
  package var keepsAuditHistory = false
  package var list: String
  package var loser: String
  /// The same as the loser when only one recipient is concerned.
  package var winner: String
  /// The one date that all its writes carry.
  package var date: String
  package var device: String
  package var checkId: Int64?
  /// Events of the device with a greater number carry the result.
  package var emission: Int64
  package var ids: [IdentityColumn]
  package var before: DeviceIdentity
  package var after: DeviceIdentity
  package var created: Instant
  package var steps: [MergeStep]

  /// The recipients it locks, each once, in the order in which locks are taken. What is asked for a recipient touches no column that a
  /// merge compares, and must not keep a merge waiting.
  package var recipients: [String] {
    scenario.isInstruction
      ? []
      : Set([ByteText(loser), ByteText(winner)]).sorted { ($0.string.utf8.count, $0) < ($1.string.utf8.count, $1) }
        .map(\.string).filter { !$0.isEmpty }
  }

  package var isStarted: Bool { steps.contains(where: \.isStarted) }

  /// Whether steps were started and not taken back.
  package var isUnderWay: Bool { steps.contains { $0.isStarted && !$0.isUndone && $0.name != .verify } }

  /// Whether no other plan may have one of its recipients.
  var holdsLocks: Bool { !state.isEnded && (state != .refused || isUnderWay) }

  package func index(of name: MergeStepName) -> Int? { steps.firstIndex { $0.name == name } }
}

/// One line of the journal.
package struct JournalLine: Sendable, Equatable {
  package enum Entry: String, Sendable {
    case plan, start, done, conflict, undo, end
  }

  package var entry: Entry
  /// The step, with `UNDO_` in front on the way back; the key with `plan` and `undo`; the outcome with `end`.
  package var step: String

  package init(_ entry: Entry, _ step: String) {
    self.entry = entry
    self.step = step
  }

  package init(_ entry: Entry, _ name: MergeStepName, undo: Bool) {
    self.init(entry, undo ? MergeStepName.undoPrefix + name.rawValue : name.rawValue)
  }
}
