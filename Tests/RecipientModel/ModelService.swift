package import BatchFoundation
package import Engage
package import EngageRules

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
  /// Applied, and answered about somebody else.
  case stranger
  /// Applied and answered; the answer comes once more, before the one to the next call on the connection, and so on.
  case repeated
  /// An answer with a fault that says secrets of the program and what it sent; nothing is applied.
  case echo
  /// The same, for good.
  case refused
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

    /// The next call has a connection of its own.
    mutating func hangUp() { (surplus, isWrong) = (nil, false) }

    mutating func carryOutLate(before call: Int = .max) {
      for entry in late where entry.call <= call { entry.apply(&self) }
      late.removeAll { $0.call <= call }
    }

    /// Whether the call under way is answered about somebody else.
    var lies = false
    /// The answer that comes before the next one, until the connection is closed.
    var surplus: Answer?
    /// An answer of the open connection showed that it was another question's.
    var isWrong = false
    /// Calls that were made on such a connection.
    var callsOnWrong = 0
    /// Whom a wrong answer to an addition names: somebody whom the program knows under another mobile user id; nil tells no such lie.
    package var namedByAdditions: String?
    /// What a fault says besides what was sent.
    package var echo = ""

    /// The newest recipient but this one, as an answer about somebody else names it.
    func stranger(to recipient: String?) -> String? {
      recipients.keys.filter { $0 != recipient }.max { (Int($0) ?? 0, $0) < (Int($1) ?? 0, $1) }
    }

    package var key: Set<ByteText> = []
    package var columns: Set<ByteText> = []
    package var tableColumns: Set<ByteText> = []
    package var kinds: [ByteText: ColumnKind] = [:]
    /// The form in which a column keeps a value; a look-up compares that.
    package var keeps: @Sendable (_ column: String, _ value: String) -> String = { $1 }
    /// What a look-up compares instead; nil for the same form.
    package var searches: (@Sendable (_ column: String, _ value: String) -> String)?
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
  package var callsOnWrong: Int { state.withLock { $0.callsOnWrong } }

  package func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  /// Forgets calls and lives again, with faults at these calls, counted from 1.
  package func restart(_ injections: [Int: Injection] = [:]) {
    state.withLock {
      $0.carryOutLate()
      $0.hangUp()
      $0.calls = []
      $0.injections = injections
      $0.isDead = false
    }
  }

  private func call(
    _ call: Call, _ body: @escaping @Sendable (inout State) -> Result<Answer, RemoteFailure>
  ) throws(RemoteFailure) -> Answer {
    delay?(call)
    let result: Result<Answer, RemoteFailure> = state.withLock { state in
      if state.isDead { return .failure(.uncertain("killed")) }
      state.calls.append(call)
      state.carryOutLate(before: state.calls.count)
      state.before[state.calls.count]?(&state)
      if state.isWrong { state.callsOnWrong += 1 }
      if state.fails?(call) == true { return .failure(.uncertain("fault 50")) }
      let injection = state.injections[state.calls.count]
      switch injection {
      case nil: return state.deliver(body(&state), to: call)
      case .stranger:
        state.lies = true
        defer { state.lies = false }
        return state.deliver(body(&state), to: call)
      case .repeated:
        let answer = state.deliver(body(&state), to: call)
        if state.surplus == nil { state.surplus = try? answer.get() }
        return answer
      case .doubled:
        _ = body(&state)
        return state.deliver(body(&state), to: call)
      case .fault: return .failure(.uncertain("fault 50"))
      case .echo: return .failure(.uncertain(Self.words(state.echo, quoting: call)))
      case .refused: return .failure(.refused(fault: 1007, Self.words(state.echo, quoting: call)))
      case .transport, .lostReply, .late, .crashBefore, .crashAfter: break
      }
      state.hangUp()
      switch injection {
      case .lostReply: _ = body(&state)
      case .late where call.columns["Last Location Address"] == nil:
        state.late.append((state.calls.count + 2, { _ = body(&$0) }))
      case .late: _ = body(&state)
      case .crashBefore: state.isDead = true
      case .crashAfter:
        _ = body(&state)
        state.isDead = true
      default: break
      }
      return .failure(.uncertain(state.isDead ? "killed" : "no answer"))
    }
    return try result.get()
  }

  /// A fault's words as the service's own client passes them on.
  private static func words(_ said: String, quoting call: Call) -> String {
    let sent = call.columns.values.sorted().joined(separator: " ")
    return "fault 50: "
      + ServiceWords.withoutValues(ServiceWords("\(said) \(sent)").text, of: Array("\(call.target) \(sent)".utf8))
  }

  private static func dictionary(_ columns: [ColumnValue]) -> [String: String] {
    Dictionary(columns.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }

  private static func image(_ id: String, _ state: State) -> RecipientImage? {
    state.recipients[id].map { values in
      let columns = values.merging(state.columns.map { ($0.string, "") }) { first, _ in first }
      var image = RecipientImage(id: id, columns: columns.map { ColumnValue($0.key, $0.value) })
      image.isOptedOut = state.optedOut.contains(id)
      return image
    }
  }

  package func find(_ ids: [ColumnValue]) throws(RemoteFailure) -> RecipientImage? { try ask(.columns(ids)) }

  package func holder(of ids: [ColumnValue]) throws(RemoteFailure) -> String? { try select(.columns(ids))?.id }

  package func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage? { try ask(.recipient(recipient)) }

  /// As the service's own client does it.
  private func ask(_ question: RecipientQuestion) throws(RemoteFailure) -> RecipientImage? {
    let kinds = state.withLock { $0.kinds }
    return try question.record(by: select, isText: { kinds[ByteText($0)]?.isText ?? true }, reconnect: reconnect)
  }

  private func select(_ question: RecipientQuestion) throws(RemoteFailure) -> RecipientImage? {
    switch question {
    case .recipient(let recipient):
      try call(Call(operation: "SelectRecipientData", target: recipient)) { state in
        .success(.record(Self.image(state.lies ? state.stranger(to: recipient) ?? recipient : recipient, state)))
      }.record()
    case .columns(let ids):
      try call(Call(operation: "SelectRecipientData", columns: Self.dictionary(ids))) { state in
        guard ids.allSatisfy({ state.columns.contains(ByteText($0.name)) }) else {
          return .failure(.refused(fault: 1007, "column does not exist"))
        }
        let matches = state.recipients.filter { recipient in
          ids.allSatisfy {
            ByteText(recipient.value[$0.name] ?? "") == ByteText((state.searches ?? state.keeps)($0.name, $0.value))
          }
        }
        let match = matches.keys.min { Int($0) ?? 0 < Int($1) ?? 0 }
        let answered = state.lies ? state.stranger(to: match) : match
        return .success(.record(answered.flatMap { Self.image($0, state) }))
      }.record()
    }
  }

  package func add(_ columns: [ColumnValue]) throws(RemoteFailure) -> String {
    try call(Call(operation: "AddRecipient", columns: Self.dictionary(columns))) { state in
      let wanted = Self.dictionary(columns)
      let known = state.recipients.filter { $0.value.merging(wanted) { $1 } == $0.value }.keys
      var id = known.min(by: { Int($0) ?? 0 < Int($1) ?? 0 })
      if id == nil || !state.addsOnlyUnknown {
        id = "\(state.next)"
        state.recipients["\(state.next)"] = wanted
        state.next += 1
      }
      return .success(.id((state.lies ? state.namedByAdditions : nil) ?? id ?? ""))
    }.id()
  }

  package func update(_ recipient: String, _ columns: [ColumnValue]) throws(RemoteFailure) {
    let update = Call(operation: "UpdateRecipient", target: recipient, columns: Self.dictionary(columns))
    try RecipientQuestion.confirm(recipient, reconnect: reconnect) { () throws(RemoteFailure) in
      try change(recipient, columns, update)
    }
  }

  /// - Returns: whom the answer names.
  private func change(_ recipient: String, _ columns: [ColumnValue], _ update: Call) throws(RemoteFailure) -> String {
    try call(update) { state in
      let named = state.lies ? state.stranger(to: recipient) ?? recipient : recipient
      guard state.recipients[recipient] != nil else { return .failure(.absent("not there")) }
      for column in columns where state.key.contains(ByteText(column.name)) && !column.value.isEmpty {
        if state.recipients.contains(where: { $0.key != recipient && $0.value[column.name] == column.value }) {
          return .failure(.exists("there already"))
        }
      }
      if state.silentlyIgnored > 0 {
        state.silentlyIgnored -= 1
        return .success(.id(named))
      }
      for column in columns { state.recipients[recipient]?[column.name] = state.keeps(column.name, column.value) }
      return .success(.id(named))
    }.id()
  }

  package func make(_ instruction: ContactInstruction, for recipient: String, user: ColumnValue)
    throws(RemoteFailure)
  {
    do {
      _ = try call(Call(operation: instruction.name, target: recipient, columns: [user.name: user.value])) { state in
        guard state.recipients[recipient] != nil else { return .failure(.absent("not there")) }
        switch instruction {
        case .optIn: state.optedOut.remove(recipient)
        case .optOut:
          state.optedOut.formUnion(state.recipients.filter { $0.value[user.name] == user.value }.keys)
        case .contactList(let id):
          guard state.contactLists[id, default: []].insert(recipient).inserted else {
            return .failure(.exists("there already"))
          }
        case .program("0"): return .failure(.refused(fault: 653, "program inactive"))
        case .program(let id): state.programs[id, default: [:]][recipient, default: 0] += 1
        }
        return .success(.done)
      }
    } catch .uncertain(let what) where instruction == .program(instruction.target) && what != "fault 50" {
      throw .lost(what)
    } catch {
      throw error
    }
  }

  package func writeRow(_ row: [ColumnValue], table: String) throws(RemoteFailure) {
    _ = try call(Call(operation: "InsertUpdateRelationalTable", target: table, columns: Self.dictionary(row))) {
      state in
      if state.refusedRows { return .failure(.refused(fault: 0, "There is no column")) }
      state.rows[row[0].value] = Self.dictionary(Array(row.dropFirst()))
      return .success(.done)
    }
  }

  package func deleteRow(key: ColumnValue, table: String) throws(RemoteFailure) {
    _ = try call(Call(operation: "DeleteRelationalTableData", target: table, columns: [key.name: key.value])) { state in
      state.rows.removeValue(forKey: key.value) == nil ? .failure(.absent("not there")) : .success(.done)
    }
  }

  package func layout(of list: String) throws(RemoteFailure) -> ListLayout {
    let answer: ListLayout? = state.withLock { state in
      switch list {
      case "50001": ListLayout(columns: state.columns, keyColumns: state.key, kinds: state.kinds)
      case "50002": ListLayout(columns: state.tableColumns, keyColumns: ["Audit Record Id"])
      default: nil
      }
    }
    guard let answer else { throw .refused(fault: 108, "no such list") }
    return answer
  }

  package func reconnect() { state.withLock { $0.hangUp() } }
}
