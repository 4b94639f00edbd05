import BatchConfiguration
import BatchFoundation
import BatchHTTP
import BatchPlatform
import BatchReport
import BatchStore
import EngageAPI
import EngageEvents
import EngageIdentity

/// What Engage shows of a store: events that it refused after it had taken them, and recipients (reference identity 6.1).
extension EngageConnection: ArrivalChecking {
  func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: BatchPlatform.Interruption,
    into arrivals: inout Arrivals
  ) throws {
    try compareEvents(of: store, names, interruption, &arrivals)
    try compareRecipients(of: store, names, interruption, &arrivals)
    try compareAuditRows(of: store, names, interruption, &arrivals)
  }

  private func compareEvents(
    of store: EventStore, _ names: ArrivalNames, _ interruption: BatchPlatform.Interruption, _ arrivals: inout Arrivals
  ) throws {
    let posted = try store.ledger.statusCounts()[.successfullyPosted, default: 0]
    let submission = submission
    var refused: [(EventID, String)] = []
    let reading = try interruption.during(
      { try submission.unreadRejections(in: store) { refused.append(($0, $1)) } }, end: { submission.abort() })
    try interruption.check()
    switch reading {
    case .unavailable(let reason, let stop): throw ArrivalsUnavailable(reason, exit: stop?.exit ?? .serviceUnavailable)
    case .read(_, _, _, let isWhole):
      arrivals.explain(
        .events,
        isWhole
          ? "the service lists the events that it refused after taking them; it does not list those that it has"
          : "the service's list of refused events is long and was read in part; a run goes on reading")
    }
    for (id, reason) in refused {
      arrivals.add(
        Arrivals.Finding(
          .different, .events, "\(id)", "refused by the service after it was taken: \(reason)",
          repair: "the next run notes it; when the cause is fixed: "
            + names.onStore("store", "requeue", "--status", "FAILED_POST")))
    }
    arrivals.count(.taken, .events, by: posted - refused.count)
  }

  private func compareRecipients(
    of store: EventStore, _ names: ArrivalNames, _ interruption: BatchPlatform.Interruption,
    _ arrivals: inout Arrivals
  ) throws {
    let settings = IdentitySettings(context.settings)
    let waiting = try store.identities.devicesToSetUp(after: nil, limit: .max).count
    if waiting > 0 {
      arrivals.add(
        Arrivals.Finding(
          .missing, .recipients, "", "\(waiting.counted("device waits", "devices wait")) for a recipient",
          repair: "the next run gives each of them one"), of: waiting)
    }
    let expected = try ExpectedRecipient.all(in: store)
    guard !expected.isEmpty else {
      if waiting == 0 { arrivals.explain(.recipients, "the store knows of none") }
      return
    }
    let columns = Set(expected.flatMap { ($0.written + $0.inherited).map { ByteText($0.change.name) } })
    let earlier = Set(expected.flatMap { $0.inherited.map { ByteText($0.plan.winner) } })
      .subtracting(expected.map { ByteText($0.id) }).sorted().map(\.string)
    let found = try ask(settings, interruption) { database, transfer, retryPolicy in
      try RecipientReading(database, transfer, settings, retryPolicy)
        .images(of: expected.map(\.id) + earlier, with: columns.sorted().map(\.string))
    }
    arrivals.explain(
      .recipients,
      "each recipient of a device is looked up in list \(settings.list): whether it is there, with what the store's plans wrote to it or to "
        + "the one in whose place it came, or else with the mobile user id of a device that has it")
    let holders = Dictionary(
      found.compactMap { image in
        image.map { (ByteText($0[settings.recipient.mobileUserIdColumn].lowercased()), $0.id) }
      },
      uniquingKeysWith: { first, _ in first })
    let present = Set(found.compactMap { $0.map { ByteText($0.id) } })
    for (recipient, image) in zip(expected, found) {
      guard let finding = recipient.inheriting(fromAllBut: present).finding(for: image, settings, names, holders) else {
        arrivals.count(.confirmed, recipient.subject)
        continue
      }
      arrivals.add(finding)
    }
  }

  private func compareAuditRows(
    of store: EventStore, _ names: ArrivalNames, _ interruption: BatchPlatform.Interruption,
    _ arrivals: inout Arrivals
  ) throws {
    let settings = IdentitySettings(context.settings)
    guard let table = settings.audit else { return }
    let expected = try AuditRowReading.expected(in: store)
    guard !expected.isEmpty else { return arrivals.explain(.auditRows, "no merge of the store has left one") }
    guard context.settings.recipient.transferFolder != nil else {
      arrivals.count(.taken, .auditRows, by: expected.count)
      return arrivals.explain(
        .auditRows, "the service shows the rows of a table by export only, which needs Recipient.transferFolder")
    }
    let found: [AuditRowReading.Finding]
    do {
      found = try ask(settings, interruption) { _, transfer, retryPolicy in
        // There is a folder, as checked above.
        try transfer.map { try AuditRowReading($0, table, retryPolicy).findings(for: expected) } ?? []
      }
    } catch let fault where fault is ArrivalsUnavailable || fault is InterruptedError {
      throw fault
    } catch {
      return arrivals.add(
        Arrivals.Finding(
          .unknown, .auditRows, "", "table \(table.tableId) could not be read: \(error)",
          repair: "'verify' again, once exports reach Recipient.transferFolder"), of: expected.count)
    }
    arrivals.explain(.auditRows, "each row is looked for in an export of table \(table.tableId)")
    for (row, finding) in zip(expected, found) {
      let detail =
        switch finding {
        case .present: ""
        case .missing: "is not in table \(row.table), although plan \(row.plan) wrote it"
        case .different: "names other recipients in table \(row.table) than plan \(row.plan) wrote"
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

  /// Asks the service, which a signal ends.
  ///
  /// - Throws: ``ArrivalsUnavailable`` for ``RemoteFailure``, and what else `body` throws.
  private func ask<Answer>(
    _ settings: IdentitySettings, _ interruption: BatchPlatform.Interruption,
    _ body: (ServiceDatabase, ListTransfer?, RetryPolicy) throws -> Answer
  ) throws -> Answer {
    let cancellation = HTTPCancellation()
    let pause: @Sendable (Milliseconds) -> Void = { RetryPolicy.rest($0) { cancellation.isCancelled } }
    var retryPolicy = RetryPolicy(context.settings, pause: pause)
    // Nothing depends on the answer, so nobody waits for minutes.
    retryPolicy.tries = 3
    var patience = ServicePatience(context.settings)
    patience.longest = patience.atStart
    let database = ServiceDatabase(
      service: service, list: settings.list, patience: patience, cancellation: cancellation, pause: pause)
    let transfer = context.settings.recipient.transferFolder.map {
      ListTransfer(database, folder: TransferFolder(path: $0))
    }
    let result = interruption.during(
      { Result { try body(database, transfer, retryPolicy) } }, end: { cancellation.cancel() })
    try interruption.check()
    do {
      return try result.get()
    } catch RemoteFailure.stopped(let stop, let reason) {
      throw ArrivalsUnavailable(reason, exit: stop.exit)
    } catch let failure as RemoteFailure {
      throw ArrivalsUnavailable("\(failure)", exit: failure.exit)
    }
  }
}

/// What a recipient has to be like at the service, by what the store wrote there or read from it.
private struct ExpectedRecipient {
  var id: String
  var devices: [KnownDevice] = []
  /// What plans wrote to it last, column by column.
  var written: [(change: ColumnChange, plan: MergePlan)] = []
  /// The ids that plans wrote to a recipient that one of its devices had before, in the place of which it came (`identity renew`) if that
  /// one is gone.
  var inherited: [(change: ColumnChange, plan: MergePlan)] = []
  /// Mobile user ids of its devices; one of them has to be there. Without that of a device that moved over and left everything as it was.
  var users: [String] = []
  /// Whether it went up in another one.
  var isMerged = false

  var subject: Arrivals.Subject { devices.isEmpty ? .merges : .recipients }

  /// Recipients of devices, and those that went up in another one.
  static func all(in store: EventStore) throws -> [ExpectedRecipient] {
    var all: [ExpectedRecipient] = []
    var places: [ByteText: Int] = [:]
    func place(of id: String) -> Int {
      if let known = places[ByteText(id)] { return known }
      places[ByteText(id)] = all.count
      all.append(ExpectedRecipient(id: id))
      return all.count - 1
    }
    let devices = try store.identities.devicesWithRecipient()
    for device in devices { all[place(of: device.identity.recipientId)].devices.append(device) }
    let plans = try store.merges.plans().filter { $0.state == .done && !$0.scenario.isInstruction }
    let moves = Dictionary(
      plans.filter { $0.index(of: .publishMapping) != nil }.map { (ByteText($0.device), $0) },
      uniquingKeysWith: { $1 })
    // The recipients of devices that moved neither by a plan nor by a record.
    let others = Dictionary(
      devices.filter { device in
        let (id, recorded) = (device.identity.recipientId, device.recorded.recipientId)
        return !recorded.isIdentical(to: id) && moves[ByteText(device.device)]?.winner.isIdentical(to: id) == false
      }.map { (ByteText($0.device), $0.identity.recipientId) }, uniquingKeysWith: { $1 })
    for plan in plans {
      if plan.index(of: .markLoser) != nil { all[place(of: plan.loser)].isMerged = true }
      for step in plan.steps where step.name.isUpdate {
        for change in step.changes { all[place(of: step.target)].note(change, plan) }
      }
      if let id = others[ByteText(plan.device)], let step = plan.index(of: .setIds).map({ plan.steps[$0] }),
        moves[ByteText(plan.device)]?.winner.isIdentical(to: step.target) == true
      {
        all[place(of: id)].inherited += step.changes.map { ($0, plan) }
      }
    }
    for device in devices {
      let (id, user) = (device.identity.recipientId, device.identity.mobileUserId)
      if let move = moves[ByteText(device.device)], move.scenario == .reassign || move.scenario == .markMerged,
        move.winner.isIdentical(to: id), move.before.mobileUserId.isIdentical(to: user)
      {
        continue
      }
      if !user.isEmpty { all[place(of: id)].users.append(user) }
    }
    return all.filter { !$0.devices.isEmpty || $0.isMerged }
  }

  /// Takes over what was written to the recipients before it.
  func inheriting(fromAllBut present: Set<ByteText>) -> ExpectedRecipient {
    var heir = self
    let columns = Set(written.map { ByteText($0.change.name) })
    for (change, plan) in inherited
    where !present.contains(ByteText(plan.winner)) && !columns.contains(ByteText(change.name)) {
      heir.note(change, plan)
    }
    return heir
  }

  private mutating func note(_ change: ColumnChange, _ plan: MergePlan) {
    written.removeAll { $0.change.name.isIdentical(to: change.name) }
    written.append((change, plan))
  }

  /// What is wrong with the recipient as the service has it; nil for nothing.
  ///
  /// - Parameters:
  ///   - image: nil if it is not there.
  ///   - holders: by mobile user id in lower case, a recipient that has it.
  func finding(
    for image: RecipientImage?, _ settings: IdentitySettings, _ names: ArrivalNames, _ holders: [ByteText: String]
  ) -> Arrivals.Finding? {
    let owners = devices.prefix(3).map { names.personal.id($0.device).text ?? "" }.joined(separator: ", ")
    let whose = devices.isEmpty ? "" : " (of \(devices.count.counted("device")): \(owners))"
    guard let image else {
      return Arrivals.Finding(
        .missing, subject, id, "is not in list \(settings.list)\(whose)",
        repair: devices.isEmpty
          ? "not needed: no device of the store reports to it any more"
          : names.onStore("identity", "renew", id) + "; then the next run gives its devices another one")
    }
    if let (change, plan) = written.first(where: { !$0.change.holds(image) }) {
      let isMark = change.name.isIdentical(to: settings.recipient.mergedRecipientIdColumn)
      let isOwn = [plan.loser, plan.winner].contains { $0.isIdentical(to: id) }
      let target = isOwn ? "" : " to recipient \(plan.winner), which is gone"
      let detail =
        isMark && !change.after.isEmpty
        ? "was merged into \(plan.winner) by plan \(plan.id), but column '\(change.name)' does not say so"
        : "column '\(change.name)' is not what plan \(plan.id) wrote\(target)\(whose)"
      return Arrivals.Finding(
        .different, isMark ? .merges : subject, id, detail,
        repair: repair(change.name, change.after, isId: isMark, settings, names, holders))
    }
    let column = settings.recipient.mobileUserIdColumn
    let user = image[column]
    guard !written.contains(where: { $0.change.name.isIdentical(to: column) }), let first = users.first,
      !users.contains(where: { RecipientQuestion.isSame($0, user) })
    else { return nil }
    return Arrivals.Finding(
      .different, .recipients, id, "column '\(column)' \(user.isEmpty ? "is empty" : "names another user")\(whose)",
      repair: repair(column, first, isId: false, settings, names, holders))
  }

  /// - Parameter isId: the value names a recipient and no person.
  private func repair(
    _ column: String, _ value: String, isId: Bool, _ settings: IdentitySettings, _ names: ArrivalNames,
    _ holders: [ByteText: String]
  ) -> String {
    if column.isIdentical(to: settings.recipient.mobileUserIdColumn), !value.isEmpty,
      let holder = holders[ByteText(value.lowercased())], !holder.isIdentical(to: id)
    {
      return "recipient \(holder) has that mobile user id: see both at the service, and which of them is the person's"
    }
    let shown = isId ? value : value.isEmpty ? "" : names.personal.id(value).text ?? ""
    return names.onService(
      "xmlapi", "UpdateRecipient", "--param", "LIST_ID=\(settings.list)", "--param", "RECIPIENT_ID=\(id)", "--column",
      "\(column)=\(shown)")
  }
}

extension ColumnChange {
  /// Whether a recipient has what was written; a date may have come back in another form.
  fileprivate func holds(_ image: RecipientImage) -> Bool {
    let value = image[name]
    return value.isIdentical(to: after) || RecipientQuestion.isSame(value, after)
      || isDate && !value.isEmpty && !after.isEmpty
  }
}
