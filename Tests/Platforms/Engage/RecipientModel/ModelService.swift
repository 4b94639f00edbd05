package import BatchFoundation
package import EngageEvents
package import EngageIdentity

/// What is done to one call.
package enum Injection: String, CaseIterable {
  /// An answer with a fault; nothing is applied.
  case fault
  /// The request is lost.
  case transport
  /// Applied, and the answer is lost.
  case lostReply = "lost_reply"
  /// Applied twice, by a network that repeats it, and answered.
  case doubled
  /// Applied after some more calls were made, and the answer is lost; a place is applied at once.
  case late
  /// Applied, and a look-up or an update is answered about somebody else.
  case stranger
  /// The process dies before the call, or after it was applied.
  case crashBefore = "crash_before"
  case crashAfter = "crash_after"

  /// As in `meta.injection` of the vectors.
  package static let inVectors: [Injection] = [.fault, .transport, .lostReply, .crashBefore, .crashAfter]
}

package struct Killed: Error {
  package init() {}
}

/// A marketing database in memory, at the boundary of the network: the same calls, the same doubts about their outcome.
package final class ModelService: RecipientDatabase {
  package struct Call: Equatable, Sendable {
    package var operation: String
    package var target = ""
    package var columns: [String: String] = [:]

    package var isWrite: Bool { operation != "SelectRecipientData" && operation != "GetListMetaData" }
  }

  package struct State {
    package var recipients: [String: [String: String]] = [:]
    package var rows: [String: [String: String]] = [:]
    package var optedOut: Set<String> = []
    /// Recipients in each contact list, and how often each was put into each program.
    package var contactLists: [String: Set<String>] = [:]
    package var programs: [String: [String: Int]] = [:]
    package var calls: [Call] = []
    package var injections: [Int: Injection] = [:]
    package var next = 900_000_000_900
    package var isDead = false
    /// What the network carries out later, and the number of the call before which it does.
    var late: [(call: Int, apply: @Sendable (inout State) -> Void)] = []

    mutating func carryOutLate(before call: Int = .max) {
      for entry in late where entry.call <= call { entry.apply(&self) }
      late.removeAll { $0.call <= call }
    }

    /// Whether the call under way is answered about somebody else.
    var lies = false

    /// The newest recipient but this one, as an answer about somebody else names it.
    func stranger(to recipient: String?) -> String? {
      recipients.keys.filter { $0 != recipient }.max { (Int($0) ?? 0, $0) < (Int($1) ?? 0, $1) }
    }

    package var key: Set<ByteText> = []
    package var columns: Set<ByteText> = []
    package var tableColumns: Set<ByteText> = []
    /// Updates that are acknowledged and not made.
    package var silentlyIgnored = 0
    package var refusedRows = false
    /// An added recipient that is known already is answered with its id.
    package var addsOnlyUnknown = false
    /// Calls that get no readable answer, however often they are made.
    package var fails: (@Sendable (Call) -> Bool)?
    /// Runs before each call, with its number.
    package var before: [Int: @Sendable (inout State) -> Void] = [:]
  }

  /// How long an answer takes; called before each call from its thread.
  package let delay: (@Sendable (Call) -> Void)?

  private let state: Guarded<State>

  package init(
    _ recipients: [String: [String: String]] = [:], columns: Set<ByteText> = [],
    delay: (@Sendable (Call) -> Void)? = nil
  ) {
    self.delay = delay
    var state = State()
    state.recipients = recipients
    state.columns = [
      "Mobile User Id", "Merged Recipient Id", "Merged Date", "customer_id", "loyalty_id", "Last Location Address",
      "Last Location Address Time", "EMAIL",
    ]
    state.columns.formUnion(columns)
    state.tableColumns = ["Audit Record Id", "Old Recipient Id", "New Recipient Id", "Create Date"]
    self.state = Guarded(state)
  }

  package var recipients: [String: [String: String]] {
    state.withLock { $0.recipients.mapValues { $0.filter { !$0.value.isEmpty } } }
  }
  package var rows: [String: [String: String]] { state.withLock { $0.rows } }
  package var optedOut: [String] { state.withLock { $0.optedOut.sorted() } }
  package var contactLists: [String: Set<String>] { state.withLock { $0.contactLists } }
  package var programs: [String: [String: Int]] { state.withLock { $0.programs } }
  package var calls: [Call] { state.withLock { $0.calls } }
  package var isDead: Bool { state.withLock { $0.isDead } }

  package func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  /// Forgets calls and lives again, with faults at these calls, counted from 1.
  package func restart(_ injections: [Int: Injection] = [:]) {
    state.withLock {
      $0.carryOutLate()
      $0.calls = []
      $0.injections = injections
      $0.isDead = false
    }
  }

  private func call<Value>(
    _ call: Call, _ body: @escaping @Sendable (inout State) -> Result<Value, RemoteFailure>
  ) throws(RemoteFailure) -> Value {
    delay?(call)
    let result: Result<Value, RemoteFailure> = state.withLock { state in
      if state.isDead { return .failure(.uncertain("killed")) }
      state.calls.append(call)
      state.carryOutLate(before: state.calls.count)
      state.before[state.calls.count]?(&state)
      if state.fails?(call) == true { return .failure(.uncertain("fault 50")) }
      switch state.injections[state.calls.count] {
      case nil: return body(&state)
      case .stranger:
        state.lies = true
        defer { state.lies = false }
        return body(&state)
      case .fault: return .failure(.uncertain("fault 50"))
      case .transport: return .failure(.uncertain("no answer"))
      case .lostReply:
        _ = body(&state)
        return .failure(.uncertain("no answer"))
      case .doubled:
        _ = body(&state)
        return body(&state)
      case .late where call.columns["Last Location Address"] == nil:
        state.late.append((state.calls.count + 2, { _ = body(&$0) }))
        return .failure(.uncertain("no answer"))
      case .late:
        _ = body(&state)
        return .failure(.uncertain("no answer"))
      case .crashBefore:
        state.isDead = true
        return .failure(.uncertain("killed"))
      case .crashAfter:
        _ = body(&state)
        state.isDead = true
        return .failure(.uncertain("killed"))
      }
    }
    return try result.get()
  }

  private static func dictionary(_ columns: [IdentityColumn]) -> [String: String] {
    Dictionary(columns.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }

  private static func image(_ id: String, _ state: State) -> RecipientImage? {
    state.recipients[id].map { values in
      let columns = values.merging(state.columns.map { ($0.string, "") }) { first, _ in first }
      var image = RecipientImage(id: id, columns: columns.map { IdentityColumn(name: $0.key, value: $0.value) })
      image.isOptedOut = state.optedOut.contains(id)
      return image
    }
  }

  package func find(_ ids: [IdentityColumn]) throws(RemoteFailure) -> RecipientImage? {
    try ask(.columns(ids), Call(operation: "SelectRecipientData", columns: Self.dictionary(ids))) { state in
      guard ids.allSatisfy({ state.columns.contains(ByteText($0.name)) }) else {
        return .failure(.refused(fault: 1007, "column does not exist"))
      }
      let match = state.recipients.keys.sorted { Int($0) ?? 0 < Int($1) ?? 0 }.first { id in
        ids.allSatisfy { ByteText(state.recipients[id]?[$0.name] ?? "") == ByteText($0.value) }
      }
      let answered = state.lies ? state.stranger(to: match) : match
      return .success(answered.flatMap { Self.image($0, state) })
    }
  }

  package func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage? {
    try ask(.recipient(recipient), Call(operation: "SelectRecipientData", target: recipient)) { state in
      .success(Self.image(state.lies ? state.stranger(to: recipient) ?? recipient : recipient, state))
    }
  }

  /// As the service's own client does it.
  private func ask(
    _ question: RecipientQuestion, _ asked: Call,
    _ body: @escaping @Sendable (inout State) -> Result<RecipientImage?, RemoteFailure>
  ) throws(RemoteFailure) -> RecipientImage? {
    try RecipientQuestion.ask(reconnect: reconnect) { () throws(RemoteFailure) -> RecipientImage? in
      guard let image = try call(asked, body) else { return nil }
      let verdict = try question.verdict(on: image, isWhole: true) { (_) throws(RemoteFailure) in true }
      guard verdict != .another else { throw .wrongAnswer }
      return image
    }
  }

  package func add(_ columns: [IdentityColumn]) throws(RemoteFailure) -> String {
    try call(Call(operation: "AddRecipient", columns: Self.dictionary(columns))) { state in
      let wanted = Self.dictionary(columns)
      let known = state.recipients.filter { $0.value.merging(wanted) { $1 } == $0.value }.keys
      if state.addsOnlyUnknown, let oldest = known.min(by: { Int($0) ?? 0 < Int($1) ?? 0 }) { return .success(oldest) }
      let id = "\(state.next)"
      state.next += 1
      state.recipients[id] = wanted
      return .success(id)
    }
  }

  package func update(_ recipient: String, _ columns: [IdentityColumn]) throws(RemoteFailure) {
    let update = Call(operation: "UpdateRecipient", target: recipient, columns: Self.dictionary(columns))
    try RecipientQuestion.ask(reconnect: reconnect) { () throws(RemoteFailure) in
      guard try change(recipient, columns, update).isIdentical(to: recipient) else { throw .wrongAnswer }
    }
  }

  /// - Returns: whom the answer names.
  private func change(_ recipient: String, _ columns: [IdentityColumn], _ update: Call) throws(RemoteFailure) -> String
  {
    try call(update) { (state: inout State) -> Result<String, RemoteFailure> in
      let named = state.lies ? state.stranger(to: recipient) ?? recipient : recipient
      guard state.recipients[recipient] != nil else { return .failure(.absent) }
      for column in columns where state.key.contains(ByteText(column.name)) && !column.value.isEmpty {
        if state.recipients.contains(where: { $0.key != recipient && $0.value[column.name] == column.value }) {
          return .failure(.exists)
        }
      }
      if state.silentlyIgnored > 0 {
        state.silentlyIgnored -= 1
        return .success(named)
      }
      for column in columns { state.recipients[recipient]?[column.name] = column.value }
      return .success(named)
    }
  }

  package func make(_ instruction: ContactInstruction, for recipient: String, user: IdentityColumn)
    throws(RemoteFailure)
  {
    do {
      try call(Call(operation: instruction.name, target: recipient, columns: [user.name: user.value])) {
        (state: inout State) -> Result<Void, RemoteFailure> in
        guard state.recipients[recipient] != nil else { return .failure(.absent) }
        switch instruction {
        case .optIn: state.optedOut.remove(recipient)
        case .optOut:
          state.optedOut.formUnion(state.recipients.filter { $0.value[user.name] == user.value }.keys)
        case .contactList(let id):
          guard state.contactLists[id, default: []].insert(recipient).inserted else { return .failure(.exists) }
        case .program("0"): return .failure(.refused(fault: 653, "program inactive"))
        case .program(let id): state.programs[id, default: [:]][recipient, default: 0] += 1
        }
        return .success(())
      }
    } catch .uncertain(let what) where instruction == .program(instruction.target) && what != "fault 50" {
      throw .lost(what)
    } catch {
      throw error
    }
  }

  package func writeRow(_ row: [IdentityColumn], table: String) throws(RemoteFailure) {
    try call(Call(operation: "InsertUpdateRelationalTable", target: table, columns: Self.dictionary(row))) {
      (state: inout State) -> Result<Void, RemoteFailure> in
      if state.refusedRows { return .failure(.refused(fault: 0, "There is no column")) }
      state.rows[row[0].value] = Self.dictionary(Array(row.dropFirst()))
      return .success(())
    }
  }

  package func deleteRow(key: IdentityColumn, table: String) throws(RemoteFailure) {
    try call(Call(operation: "DeleteRelationalTableData", target: table, columns: [key.name: key.value])) { state in
      state.rows.removeValue(forKey: key.value) == nil ? .failure(.absent) : .success(())
    }
  }

  package func layout(of list: String) throws(RemoteFailure) -> ListLayout {
    let answer: ListLayout? = state.withLock { state in
      switch list {
      case "50001": ListLayout(columns: state.columns, keyColumns: state.key)
      case "50002": ListLayout(columns: state.tableColumns, keyColumns: ["Audit Record Id"])
      default: nil
      }
    }
    guard let answer else { throw .refused(fault: 108, "no such list") }
    return answer
  }

  package func reconnect() {}
}
