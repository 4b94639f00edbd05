import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import BatchWire
import EngageRules

/// Compares a store with Engage: events rejected after acceptance, recipients, merges, audit rows (reference identity
/// 6.1).
extension EngageConnection {
  func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption,
    into arrivals: inout Arrivals
  ) throws {
    try compareEvents(of: store, names, interruption, &arrivals)
    try noteOpenPlans(of: store, names, &arrivals)
    try compareRecipients(of: store, names, interruption, &arrivals)
    try compareAuditRows(of: store, names, interruption, &arrivals)
  }

  private func compareEvents(
    of store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, _ arrivals: inout Arrivals
  ) throws {
    let posted = try store.ledger.statusCounts()[.successfullyPosted, default: 0]
    let submission = submission
    var refused: [(EventID, String)] = []
    let reading = try interruption.during(
      { try submission.unreadRejections(in: store) { refused.append(($0, $1)) } }, end: { submission.abort() })
    try interruption.check()
    switch reading {
    case .unavailable(let reason, let stop):
      throw CommandError.unqueried(reason, exit: stop?.exit ?? .serviceUnavailable)
    case .read(_, _, _, let isWhole):
      arrivals.explain(
        .events,
        isWhole
          ? "the service lists the events that it rejected after accepting them, but not the events that it kept"
          : "the service's list of rejected events is long and was read only in part; the next run continues")
    }
    for (id, reason) in refused {
      arrivals.add(
        Arrivals.Finding(
          .different, .events, "\(id)", "accepted by the service, then rejected: \(reason)",
          repair: "the next run records the rejection; after fixing the cause, run: "
            + names.onStore("store", "requeue", "--status", "FAILED_POST")))
    }
    arrivals.count(.taken, .events, by: posted - refused.count)
  }

  /// The minimum wait for a recipient after which a device is listed individually (reference decisions 62).
  private static let longHeld = Milliseconds(7 * 86_400_000)

  /// Reports unfinished work without comparing it with the service.
  private func noteOpenPlans(of store: EventStore, _ names: ArrivalNames, _ arrivals: inout Arrivals) throws {
    let list = names.onStore("identity", "list", "--open")
    let plans = try store.merges.openPlans()
    let awaiting = try store.identities.awaiting()
    let old = awaiting.filter { $0.since + Self.longHeld < context.asOf }
    let refused = plans.count { plan in
      plan.scenario == .setUp && plan.state == .refused && !old.contains { $0.device.isIdentical(to: plan.device) }
    }
    let pending = max(0, awaiting.count - refused - old.count)
    func add(_ count: Int, _ subject: Arrivals.Subject, _ words: String, repair: String = list) {
      if count > 0 { arrivals.add(Arrivals.Finding(.missing, subject, "", words, repair: repair), of: count) }
    }
    for device in old {
      let name = names.personal.id(device.device).text ?? ""
      arrivals.add(
        Arrivals.Finding(
          .missing, .recipients, name,
          "the device has had no recipient since \(device.since.rfc3339), so its events are pending",
          repair: "check why the last run created none; to send the device's events without a recipient, run: "
            + names.onStore("identity", "abandon", "--device", name)))
    }
    add(
      pending, .recipients, "\(pending.counted("device has", "devices have")) no recipient yet",
      repair: "the next run performs the set-up")
    add(
      refused, .recipients,
      "\(refused.counted("device has", "devices have")) no recipient, because the service refuses the set-up")
    let open = Dictionary(grouping: plans.filter { $0.scenario != .setUp }) {
      OpenKind(subject: $0.unfinishedSubject, nouns: $0.unfinishedNouns, state: $0.state)
    }
    for (kind, plans) in open.sorted(by: { $0.value[0].id < $1.value[0].id }) {
      add(plans.count, kind.subject, "\(kind.nouns) that \(kind.state.openWords): \(plans.count.grouped)")
    }
    let checks = try store.identities.pendingCheckCount() - plans.count { $0.checkId != nil }
    add(
      checks, .recipients, "\(checks.counted("identity check is", "identity checks are")) pending",
      repair: "the next run performs pending checks, unless open plans must be finished first")
  }

  private struct OpenKind: Hashable {
    var subject: Arrivals.Subject
    var nouns: String
    var state: MergeState
  }

  private func compareRecipients(
    of store: EventStore, _ names: ArrivalNames, _ interruption: Interruption,
    _ arrivals: inout Arrivals
  ) throws {
    let settings = IdentitySettings(context.settings)
    let all = try ExpectedRecipient.all(in: store)
    guard !all.isEmpty else { return arrivals.explain(.recipients, "the store has none") }
    let expected = all.filter { RecipientQuestion.isID($0.id) }
    for recipient in all where !RecipientQuestion.isID(recipient.id) { arrivals.add(recipient.findingOfNoID(names)) }
    let columns = Set(
      expected.flatMap { recipient in
        (recipient.written + recipient.inherited).map { ByteText($0.change.name) }
          + recipient.finders.flatMap { $0.ids.map { ByteText($0.name) } }
      })
    let stopped = try store.merges.openPlans().filter { $0.state == .conflict && $0.scenario.isMerge }
    let others = expected.flatMap { $0.inherited.map(\.plan.winner) } + stopped.flatMap { [$0.loser, $0.winner] }
    let earlier = Set(others.map { ByteText($0) })
      .subtracting(expected.map { ByteText($0.id) }).sorted().map(\.string).filter(RecipientQuestion.isID)
    let mark = settings.recipient.mergedRecipientIdColumn
    let (answers, heirs, lacks, marks) = try ask(settings, interruption) { database, transfer, retryPolicy in
      let reading = RecipientReading(
        remote: database, transfer: transfer, settings: settings, retryPolicy: retryPolicy)
      let answers = try reading.answers(
        of: expected.map(\.id) + earlier, with: (columns.union([ByteText(mark)])).sorted().map(\.string))
      let present = Set(answers.compactMap(\.image).map { ByteText($0.id) })
      let heirs = expected.map { $0.inheriting(fromAllBut: present) }
      let written = WrittenColumns(settings: settings, database: database, retryPolicy: retryPolicy)
      let lacks = try zip(heirs, answers).map { heir, answer in
        try answer.image.flatMap { try heir.lack($0, written) }
      }
      var marks = Dictionary(
        answers.compactMap(\.image).map { (ByteText($0.id), $0.mark(in: mark)) },
        uniquingKeysWith: { first, _ in first })
      // A circle of merge marks may include recipients that the store does not know.
      for var next in marks.values {
        while RecipientQuestion.isID(next), marks[ByteText(next)] == nil {
          let id = next
          next = try retryPolicy.repeating { () throws(RemoteFailure) in try database.read(id) }?.mark(in: mark) ?? ""
          marks[ByteText(id)] = next
        }
      }
      return (answers, heirs, lacks, marks)
    }
    arrivals.explain(
      .recipients,
      "each recipient of a device is looked up in list \(settings.list). It must have the ids by which it was found and the values that the store's "
        + "plans wrote to it or to the recipient that it replaced. Without such values, it must have the mobile user id of one of its devices"
    )
    noteMutualMerges(marks, settings, names, &arrivals)
    for ((heir, lack), answer) in zip(zip(heirs, lacks), answers) {
      guard let finding = heir.finding(for: answer, lack, settings, names) else {
        arrivals.count(.confirmed, heir.subject)
        continue
      }
      arrivals.add(finding)
    }
  }

  /// Reports recipients that are marked as merged into each other, two in opposite directions or more in a circle,
  /// because programs merged the same people simultaneously (reference decisions 63).
  private func noteMutualMerges(
    _ marks: [ByteText: String], _ settings: IdentitySettings, _ names: ArrivalNames, _ arrivals: inout Arrivals
  ) {
    for first in marks.keys.sorted() {
      var circle = [first]
      while let next = circle.last.flatMap({ marks[$0] }).map({ ByteText($0) }), first < next, !circle.contains(next) {
        circle.append(next)
      }
      guard circle.count > 1, let last = circle.last, marks[last]?.isIdentical(to: first.string) == true else {
        continue
      }
      let commands = circle.map {
        names.onService([
          "xmlapi", "UpdateRecipient", "--param", "LIST_ID=\(settings.list)", "--param", "RECIPIENT_ID=\($0.string)",
          "--column", "\(settings.recipient.mergedRecipientIdColumn)=", "--column",
          "\(settings.recipient.mergedDateColumn)=",
        ])
      }
      let others = circle.dropFirst().map(\.string).joined(separator: " and ")
      arrivals.add(
        Arrivals.Finding(
          .different, .merges, first.string,
          "and \(others) are marked as merged into each other, so there is no winner",
          repair: "run the command for the recipient that should win: \(commands.joined(separator: "  or  "))"))
    }
  }

  private func compareAuditRows(
    of store: EventStore, _ names: ArrivalNames, _ interruption: Interruption,
    _ arrivals: inout Arrivals
  ) throws {
    let settings = IdentitySettings(context.settings)
    guard let table = settings.audit else { return }
    let expected = try AuditRowReading.expected(in: store)
    guard !expected.isEmpty else { return arrivals.explain(.auditRows, "no merge in the store wrote an audit row") }
    guard context.settings.recipient.transferFolder != nil else {
      arrivals.count(.taken, .auditRows, by: expected.count)
      return arrivals.explain(
        .auditRows, "the service provides a table's rows only as an export, which requires Recipient.transferFolder")
    }
    let found: [AuditRowReading.Finding]
    do {
      found = try ask(settings, interruption) { _, transfer, _ in
        // A transfer folder is configured, as checked above.
        try transfer.map { try AuditRowReading($0, table).findings(for: expected) } ?? []
      }
    } catch let fault where fault is CommandError || fault is InterruptedError {
      throw fault
    } catch {
      return arrivals.add(
        Arrivals.Finding(
          .unknown, .auditRows, "", "table \(table.tableId) could not be read: \(error)",
          repair: "run 'verify' again once exports reach Recipient.transferFolder"), of: expected.count)
    }
    arrivals.explain(.auditRows, "each row is looked up in an export of table \(table.tableId)")
    for (row, finding) in zip(expected, found) {
      let detail =
        switch finding {
        case .present: ""
        case .missing: "is not in table \(row.table), although plan \(row.plan) wrote it"
        case .different: "names different recipients in table \(row.table) than plan \(row.plan) wrote"
        }
      guard finding != .present else {
        arrivals.count(.confirmed, .auditRows)
        continue
      }
      let columns = row.columns.flatMap { ["--column", "\($0.name)=\($0.value)"] }
      arrivals.add(
        Arrivals.Finding(
          finding == .missing ? .missing : .different, .auditRows, row.columns[0].value, detail,
          repair: names.onService(
            ["xmlapi", "InsertUpdateRelationalTable", "--param", "TABLE_ID=\(row.table)"] + columns)))
    }
  }

  /// Queries the service; a signal ends its calls.
  ///
  /// - Throws: ``CommandError`` for ``RemoteFailure``, and the other errors of `body`.
  private func ask<Answer>(
    _ settings: IdentitySettings, _ interruption: Interruption,
    _ body: (ServiceDatabase, ListTransfer?, RetryPolicy) throws -> Answer
  ) throws -> Answer {
    // Nothing depends on the response, so nobody should wait for minutes.
    var patience = Outage.Patience(context.settings)
    patience.longest = patience.atStart
    do {
      return try calling(interruption, patience) { database, retryPolicy, _ in
        var retryPolicy = retryPolicy
        retryPolicy.tries = 3
        return try body(database, database.transfer(context.settings, retryPolicy), retryPolicy)
      }
    } catch RemoteFailure.stopped(let stop, let reason) {
      throw CommandError.unqueried(reason, exit: stop.exit ?? .serviceUnavailable)
    } catch let failure as RemoteFailure {
      throw CommandError.unqueried("\(failure)", exit: failure.exit)
    }
  }
}

extension MergePlan {
  private var isForAuditRow: Bool { reason.hasPrefix(MergeStepName.audit.rawValue) }

  fileprivate var unfinishedSubject: Arrivals.Subject {
    isForAuditRow ? .auditRows : scenario.isMerge ? .merges : .recipients
  }

  fileprivate var unfinishedNouns: String {
    switch scenario {
    case _ where isForAuditRow: "audit rows"
    case .moveMobileUserId, .markMerged: "merges"
    case .location: "locations"
    case .contactList, .program, .optOut, .optIn: "instructions"
    case .register, .setIds, .setMobileUserId: "id changes"
    case .reassign, .setUp, .none: "identity checks"
    }
  }
}

extension MergeState {
  fileprivate var openWords: String {
    switch self {
    case .refused: "the service refuses"
    case .held: "are held"
    case .conflict: "are in conflict"
    case .open, .undoing, .done, .undone, .dropped: "are not finished"
    }
  }
}
