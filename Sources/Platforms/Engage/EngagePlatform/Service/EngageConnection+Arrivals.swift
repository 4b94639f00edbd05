import BatchConfiguration
import BatchFoundation
import BatchHTTP
import BatchPlatform
import BatchReport
import BatchStore
import EngageAPI
import EngageDestination
import EngageEvents
import EngageIdentity
import EngageStore

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
    let posted = try store.statusCounts()[.successfullyPosted, default: 0]
    let submission = submission
    var refused: [(EventID, String)] = []
    let reading = try interruption.during(
      { try submission.unreadRejections(in: store) { refused.append(($0, $1)) } }, end: { submission.abort() })
    try interruption.check()
    switch reading {
    case .unavailable(let reason, let stop): throw ArrivalsUnavailable(reason, exit: stop?.exit ?? .serviceUnavailable)
    case .read(_, _, let isWhole):
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
    let expected = try ExpectedRecipient.all(in: store, marksMerges: settings.marksMerges)
    guard !expected.isEmpty else {
      arrivals.explain(.recipients, "the store knows of none")
      return
    }
    let found = try ask(settings, interruption) { database, transfer, retryPolicy in
      try RecipientReading(database, transfer, settings, retryPolicy).images(of: expected.map(\.id))
    }
    arrivals.explain(
      .recipients,
      "each recipient of a device is looked up in list \(settings.list): whether it is there, with the mobile user id "
        + "of a device that has it" + (settings.marksMerges ? ", and with the mark of its merge" : ""))
    for (recipient, image) in zip(expected, found) {
      guard let finding = recipient.finding(for: image, settings, names) else {
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
          .unknown, .auditRows, "", "table \(table.id) could not be read: \(error)",
          repair: "'verify' again, once exports reach Recipient.transferFolder"), of: expected.count)
    }
    arrivals.explain(.auditRows, "each row is looked for in an export of table \(table.id)")
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
  /// The recipient that it went up in; nil for one that stands for itself.
  var merge: MergePlan?

  var subject: Arrivals.Subject { devices.isEmpty ? .merges : .recipients }

  static func all(in store: EventStore, marksMerges: Bool) throws -> [ExpectedRecipient] {
    var all: [ExpectedRecipient] = []
    for device in try store.devicesWithRecipient() {
      let id = device.identity.recipientId
      if all.last?.id.isIdentical(to: id) != true { all.append(ExpectedRecipient(id: id)) }
      all[all.count - 1].devices.append(device)
    }
    guard marksMerges else { return all }
    var places = Dictionary(uniqueKeysWithValues: all.indices.map { (ByteText(all[$0].id), $0) })
    for plan in try store.plans() where plan.state == .done && plan.scenario.isMerge {
      let place = places[ByteText(plan.loser)] ?? all.count
      if place == all.count {
        places[ByteText(plan.loser)] = place
        all.append(ExpectedRecipient(id: plan.loser))
      }
      all[place].merge = plan
    }
    return all
  }

  /// What is wrong with the recipient as the service has it; nil for nothing.
  ///
  /// - Parameter image: nil if it is not there.
  func finding(
    for image: RecipientImage?, _ settings: IdentitySettings, _ names: ArrivalNames
  ) -> Arrivals.Finding? {
    let owners = devices.prefix(3).map { names.personal.id($0.device).text ?? "" }.joined(separator: ", ")
    let whose = devices.isEmpty ? "" : " (of \(devices.count.counted("device")): \(owners))"
    guard let image else {
      return Arrivals.Finding(
        .missing, subject, id, "is not in list \(settings.list)\(whose)",
        repair: devices.isEmpty
          ? "nothing reports to it any more"
          : names.onStore("identity", "renew", id) + "; then the next run gives its devices another one")
    }
    if let merge, !image[settings.mergedRecipientIdColumn].isIdentical(to: merge.winner) {
      return Arrivals.Finding(
        .different, .merges, id,
        "was merged into \(merge.winner) by plan \(merge.id), but column '\(settings.mergedRecipientIdColumn)' does not say so",
        repair: update("\(settings.mergedRecipientIdColumn)=\(merge.winner)", settings, names))
    }
    let users = devices.map(\.identity.mobileUserId).filter { !$0.isEmpty }
    let user = image[settings.mobileUserIdColumn]
    guard let first = users.first, !users.contains(where: { $0.isIdentical(to: user) }) else { return nil }
    return Arrivals.Finding(
      .different, .recipients, id,
      "column '\(settings.mobileUserIdColumn)' \(user.isEmpty ? "is empty" : "names another user")\(whose)",
      repair: update("\(settings.mobileUserIdColumn)=\(names.personal.id(first).text ?? "")", settings, names))
  }

  private func update(_ column: String, _ settings: IdentitySettings, _ names: ArrivalNames) -> String {
    names.onService(
      "xmlapi", "UpdateRecipient", "--param", "LIST_ID=\(settings.list)", "--param", "RECIPIENT_ID=\(id)", "--column",
      column)
  }
}
