package import BatchConfiguration
package import BatchFoundation
import BatchPipeline
package import BatchStore
package import BatchWire
package import EngageRules

/// The marketing database over the XMLAPI, with one operation per request, so that each outcome is known separately.
package final class ServiceDatabase: RecipientDatabase {
  private let service: EngageService
  let list: String
  private let cancellation: HTTPCancellation?
  let pause: @Sendable (Milliseconds) -> Void
  private let uptime: @Sendable () -> Double
  private let patience: CallPatience
  /// The number of additional calls that may be started now (reference identity 7: an eleventh is refused).
  private let free: Guarded<Int>
  /// The latest description of the list.
  private let known = Guarded<ListLayout?>(nil)

  /// - Parameter uptime: The seconds on a clock that only moves forward.
  package init(
    service: EngageService, list: String, patience: Outage.Patience, concurrency: Int = 1,
    cancellation: HTTPCancellation? = nil,
    uptime: @escaping @Sendable () -> Double = EngageService.systemUptime,
    pause: @escaping @Sendable (Milliseconds) -> Void
  ) {
    self.service = service
    self.list = list
    self.patience = CallPatience(patience)
    free = Guarded(max(concurrency, 1))
    self.cancellation = cancellation
    self.uptime = uptime
    self.pause = pause
  }

  package func find(_ ids: [ColumnValue]) throws(RemoteFailure) -> RecipientImage? { try ask(.columns(ids)) }

  package func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage? { try ask(.recipient(recipient)) }

  private func ask(_ question: RecipientQuestion) throws(RemoteFailure) -> RecipientImage? {
    try question.record(by: select, isText: isText, reconnect: reconnect)
  }

  /// Whether a column is text. Called only if values differ, so that the list's description is requested only if
  /// necessary.
  private func isText(_ column: String) throws(RemoteFailure) -> Bool {
    if let known = known.withLock({ $0 }) { return known.kind(of: column).isText }
    do {
      return try layout(of: list).kind(of: column).isText
    } catch .refused {
      return true
    } catch {
      throw error
    }
  }

  package func reconnect() { service.abandonConnections() }

  private func select(_ question: RecipientQuestion) throws(RemoteFailure) -> RecipientImage? {
    do {
      return try call(.select(question, of: list))
    } catch .absent {
      return nil
    } catch {
      throw error
    }
  }

  package func holder(of ids: [ColumnValue]) throws(RemoteFailure) -> String? { try select(.columns(ids))?.id }

  package func add(_ columns: [ColumnValue]) throws(RemoteFailure) -> String {
    // Another store may have added the recipient to the list; the call then finds it instead of adding a second one.
    let id = try call(.add(columns, to: list))
    guard RecipientQuestion.isID(id) else {
      reconnect()
      throw .wrongAnswer
    }
    return id
  }

  package func update(_ recipient: String, _ columns: [ColumnValue]) throws(RemoteFailure) {
    let request = XMLAPIOperation.update(recipient, of: list, columns)
    try RecipientQuestion.confirm(recipient, reconnect: reconnect) { () throws(RemoteFailure) in try call(request) }
  }

  package func writeRow(_ row: [ColumnValue], table: String) throws(RemoteFailure) {
    let request = XMLAPIOperation.write([row], to: table)
    guard let failure = try call(request).first else { return }
    if failure.isPermanent {
      // The row has been sent, so encoding it cannot fail.
      let sent = (try? Envelope.bytes([request.call])) ?? []
      throw .refused(fault: 0, "the row was refused: \(ServiceWords.withoutValues(failure.description, of: sent))")
    }
    throw .uncertain("the row was not saved")
  }

  package func deleteRow(key: ColumnValue, table: String) throws(RemoteFailure) {
    let operation = XMLAPIOperation.delete([[key]], of: table)
    let results = try outcome(of: operation.call) { service.call([operation.call], cancellation: cancellation) }
    guard let result = results.first else { throw .uncertain("the response has no result") }
    if let failure = result.rowFailures.first {
      // The failure has only this message and no error id (reference identity 3.2).
      if failure.description.lowercased().contains("row not found") { throw .absent("") }
      if failure.isPermanent { throw .refused(fault: 0, "the row cannot be deleted") }
      throw .uncertain("the row was not deleted")
    }
    if let fault = result.fault { throw Self.failure(of: fault) }
  }

  package func make(
    _ instruction: ContactInstruction, for recipient: String, user: ColumnValue
  ) throws(RemoteFailure) {
    switch instruction {
    case .contactList(let id): try call(.add(recipient, toContactList: id))
    case .optOut: try call(.optOut([user], of: list))
    case .optIn: try update(recipient, [ColumnValue("OPT_OUT", "false")])
    case .program(let id):
      var isKnown = true
      let request = XMLAPIOperation.add(recipient, toProgram: id)
      do {
        try outcome(of: request.call) {
          let outcome = service.call(request, cancellation: cancellation)
          if case .unknown = outcome { isKnown = false }
          return outcome
        }
      } catch {
        // If the program may have been started, a person must check, even if the run was asked to end in the meantime.
        throw isKnown ? error : .lost(error.description)
      }
    }
  }

  /// Deletes a recipient permanently; not part of a merge.
  func remove(_ recipient: String) throws(RemoteFailure) {
    try call(.remove(recipient, of: list))
  }

  package func layout(of list: String) throws(RemoteFailure) -> ListLayout {
    let description = try call(.describe(list))
    let layout = ListLayout(
      columns: Set(description.columns.map { ByteText($0.name) } + [ByteText("EMAIL"), ByteText("Email")]),
      keyColumns: Set(description.keyColumns.map { RecipientImage.key($0) }),
      kinds: Dictionary(
        description.columns.map { (RecipientImage.key($0.name), ColumnKind(type: $0.type)) }, uniquingKeysWith: { $1 }))
    if list.isIdentical(to: self.list) { known.withLock { $0 = layout } }
    return layout
  }

  // MARK: Calls

  func call<Answer>(_ request: XMLAPIOperation<Answer>) throws(RemoteFailure) -> Answer {
    try outcome(of: request.call) { service.call(request, cancellation: cancellation) }
  }

  private func outcome<Answer>(
    of call: OperationCall, _ send: () -> ServiceOutcome<Answer>
  ) throws(RemoteFailure) -> Answer {
    if cancellation?.isCancelled == true { throw .interrupted }
    let quiet = patience.quiet(call, now: now)
    if quiet > .zero { pause(quiet) }
    switch limited(send) {
    case .answered(let answer):
      patience.noteAnswer(call)
      return answer
    case .rejected(let fault):
      patience.noteAnswer(call)
      throw Self.failure(of: fault)
    case .notSent(let fault), .refused(let fault), .unknown(let fault):
      if cancellation?.isCancelled == true { throw .interrupted }
      if fault.stop == .unwritable { throw .refused(fault: 0, "a value contains characters that XML cannot represent") }
      if let stop = fault.stop {
        if fault.isSentence, try isAnswered(otherThan: call) {
          throw .refused(fault: 0, "the service refuses only this call: \(fault.reason)")
        }
        throw .stopped(stop, fault.reason)
      }
      guard fault.isTemporary else {
        patience.noteFailure(call)
        throw .uncertain(fault.reason)
      }
      switch patience.noteRefusal(call, now: now, wish: fault.retryAfter) {
      case .again(let pause): throw .unavailable(fault.reason, again: pause)
      case .later: throw .deferred(fault.reason)
      case .ended: throw .unavailable(fault.reason, again: nil)
      }
    }
  }

  private func limited<Outcome>(_ send: () -> Outcome) -> Outcome {
    free.wait { count -> Void? in
      guard count > 0 else { return nil }
      count -= 1
      return ()
    }
    defer { free.change { $0 += 1 } }
    return send()
  }

  /// Whether the service answers a call that contains no recorded values, after it refused the given call with a
  /// sentence (reference decisions 59).
  private func isAnswered(otherThan call: OperationCall) throws(RemoteFailure) -> Bool {
    let question = XMLAPIOperation.describe(list)
    guard question.call != call else { return false }
    do {
      _ = try self.call(question)
      return true
    } catch .stopped {
      return false
    } catch {
      guard error.concernsOneDevice else { throw error }
      return true
    }
  }

  private var now: Milliseconds { Milliseconds(Int64((uptime() * 1000).rounded())) }

  private static func failure(of fault: ServiceFault) -> RemoteFailure {
    switch fault.kind {
    case .permanent: .refused(fault: fault.id ?? 0, fault.description)
    case .absent: .absent(fault.description)
    case .exists: .exists(fault.description)
    case .expired: .stopped(.credentials, fault.description)
    case .transient, .verify, .throttled: .uncertain(fault.description)
    }
  }

  convenience init(
    _ settings: Settings, _ service: EngageService, patience: Outage.Patience? = nil,
    cancellation: HTTPCancellation? = nil, pause: @escaping @Sendable (Milliseconds) -> Void = { RetryPolicy.rest($0) }
  ) {
    self.init(
      service: service, list: settings.general.listId, patience: patience ?? Outage.Patience(settings),
      concurrency: settings.upload.concurrency, cancellation: cancellation, pause: pause)
  }

  /// Returns the transfer of whole lists as files; nil if no folder is configured for it.
  func transfer(_ settings: Settings, _ retryPolicy: RetryPolicy) -> ListTransfer? {
    settings.recipient.transferFolder.map { ListTransfer(self, folder: TransferFolder(path: $0), retryPolicy) }
  }
}

// MARK: - An operator's work outside a run

extension IdentityReconciler {
  /// Returns a reconciler with a new run in the store; throws ``StoreError``.
  package static func ofOperator(
    _ settings: Settings, service: EngageService, store: EventStore, now: Instant
  ) throws -> IdentityReconciler {
    let run = try store.runs.begin(job: "identity", configurationDigest: "", started: now, asOf: now)
    return IdentityReconciler(
      store: store, remote: ServiceDatabase(settings, service), settings: IdentitySettings(settings),
      retryPolicy: RetryPolicy(settings), run: run, now: now)
  }
}

extension ServiceErasure {
  package static func ofOperator(_ settings: Settings, service: EngageService) -> ServiceErasure {
    ServiceErasure(
      remote: ServiceDatabase(settings, service), settings: IdentitySettings(settings),
      retryPolicy: RetryPolicy(settings))
  }
}
