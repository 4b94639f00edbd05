import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import EngageRules

/// The expected content of a recipient at the service, derived from what the store's plans wrote to it or read from it.
struct ExpectedRecipient {
  var id: String
  var devices: [KnownDevice] = []
  /// The last changes that plans wrote, one per column.
  var written: [(change: ColumnChange, plan: MergePlan)] = []
  /// The ids that plans wrote to the recipient that this one replaced (`identity renew`); they count only if the
  /// replaced recipient no longer exists.
  var inherited: [(change: ColumnChange, plan: MergePlan)] = []
  /// The plans that found the recipient by their ids.
  var finders: [MergePlan] = []
  /// The mobile user ids with which the recipient was added or read, one of which it must have. Ids of devices that
  /// moved to the recipient without changing it are excluded.
  var users: [String] = []
  var isMerged = false

  var subject: Arrivals.Subject { devices.isEmpty ? .merges : .recipients }

  /// Returns the recipients of the store's devices, and those merged into others.
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
    func key(_ device: String, _ user: String) -> ByteText { ByteText("\(Person.key(user))\0\(device)") }
    let moves = Dictionary(
      plans.filter { $0.index(of: .publishMapping) != nil }.map { (key($0.device, $0.before.mobileUserId), $0) },
      uniquingKeysWith: { $1 })
    func move(_ device: KnownDevice) -> MergePlan? { moves[key(device.device, device.person.mobileUserId)] }
    // The recipients that are neither the winner of their device's last plan nor named by a record.
    let others = Dictionary(
      devices.filter { device in
        device.person.progress != .recorded
          && move(device)?.winner.isIdentical(to: device.identity.recipientId) == false
      }.map { (key($0.device, $0.person.mobileUserId), $0.identity.recipientId) }, uniquingKeysWith: { $1 })
    for plan in plans {
      if plan.scenario.isMerge || plan.scenario == .reassign { all[place(of: plan.winner)].finders.append(plan) }
      if plan.index(of: .markLoser) != nil { all[place(of: plan.loser)].isMerged = true }
      for step in plan.steps where step.name.isUpdate {
        for change in step.changes { all[place(of: step.target)].note(change, plan) }
      }
      let owner = key(plan.device, plan.before.mobileUserId)
      if let id = others[owner], let step = plan.index(of: .setIds).map({ plan.steps[$0] }),
        moves[owner]?.winner.isIdentical(to: step.target) == true
      {
        all[place(of: id)].inherited += step.changes.map { ($0, plan) }
      }
    }
    // Devices that moved to a recipient without writing their mobile user id to it.
    let unsaid = Set(
      plans.filter {
        ($0.scenario == .reassign || $0.scenario == .markMerged) && $0.before.mobileUserId == $0.after.mobileUserId
      }.map { [$0.device, $0.winner, $0.after.mobileUserId] })
    for device in devices {
      let (id, user) = (device.identity.recipientId, device.identity.mobileUserId)
      if !user.isEmpty, !unsaid.contains([device.device, id, user]) { all[place(of: id)].users.append(user) }
    }
    return all.filter { !$0.devices.isEmpty || $0.isMerged }
  }

  /// Returns a copy that also expects the values written to its predecessors, unless those are in `present`.
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

  /// A value that a recipient should have but lacks.
  struct Lack {
    enum Source {
      case written(ColumnChange, MergePlan)
      /// A plan found the recipient by this id, which no longer finds it.
      case found(MergePlan)
      case user
    }

    var id: ColumnValue
    var source: Source
    /// Another recipient that has the value.
    var holder: String?
  }

  /// Returns the first expected value that the recipient lacks at the service; nil if it has all of them.
  func lack(_ image: RecipientImage, _ columns: WrittenColumns) throws -> Lack? {
    let recipient = columns.settings.recipient
    let user = recipient.mobileUserIdColumn
    var lack: Lack
    if let (change, plan) = try written.first(where: { try !columns.holds($0.change, on: image) }) {
      lack = Lack(id: ColumnValue(change.name, change.after), source: .written(change, plan))
    } else if let (plan, id) = try outdatedFinder(image, columns) {
      lack = Lack(id: id, source: .found(plan))
    } else if !written.contains(where: { $0.change.name.isIdentical(to: user) }), let first = users.first,
      !users.contains(where: { RecipientQuestion.isSame($0, image[user]) }),
      try !users.contains(where: { try columns.finds(ColumnValue(user, $0), cutOn: image) })
    {
      lack = Lack(id: ColumnValue(user, first), source: .user)
    } else {
      return nil
    }
    if !lack.id.value.isEmpty, !lack.id.name.isIdentical(to: recipient.mergedRecipientIdColumn) {
      let holder = try columns.holder(of: [lack.id])
      lack.holder = holder?.isIdentical(to: id) == true ? nil : holder
    }
    return lack
  }

  /// Returns a plan whose ids find neither this recipient nor one that is marked as merged, with the first missing id;
  /// nil if there is none. Skips plans with an id in a column to which a plan has written.
  private func outdatedFinder(
    _ image: RecipientImage, _ columns: WrittenColumns
  ) throws -> (MergePlan, ColumnValue)? {
    for plan in finders {
      let isWritten = plan.ids.contains { id in written.contains { $0.change.name.isIdentical(to: id.name) } }
      let missing = try plan.ids.first { id in
        try !RecipientQuestion.isSame(image[id.name], id.value)
          && !columns.kind(of: id.name).keeps(id.value, as: image[id.name])
      }
      guard !isWritten, let missing else { continue }
      let holder = try columns.holder(of: plan.ids.filter { !$0.value.isEmpty })
      if holder?.isIdentical(to: id) == true { continue }
      let mark = try holder.flatMap { holder in
        try columns.retryPolicy.repeating { () throws(RemoteFailure) in try columns.database.read(holder) }
      }?.mark(in: columns.settings.recipient.mergedRecipientIdColumn)
      if mark?.isEmpty == false { continue }
      return (plan, missing)
    }
    return nil
  }

  /// Returns the finding for a recipient, given the result of reading it and a value that it lacks; nil if everything
  /// is correct.
  func finding(
    for answer: RecipientReading.Answer, _ lack: Lack?, _ settings: IdentitySettings, _ names: ArrivalNames
  ) -> Arrivals.Finding? {
    let whose = owners(names)
    let image: RecipientImage
    switch answer {
    case .found(let found): image = found
    case .absent:
      return Arrivals.Finding(
        .missing, subject, id, "is not in list \(settings.list)\(whose)", repair: renewal(names))
    case .unanswered(let failure):
      return Arrivals.Finding(
        .unknown, subject, id, "could not be looked up at the service\(whose): \(failure)",
        repair: "run 'verify' again; if that does not help, look the recipient up in the service")
    }
    guard let lack else { return nil }
    let column = lack.id.name
    let isMark = column.isIdentical(to: settings.recipient.mergedRecipientIdColumn)
    var isMine = image[column].isEmpty || isMark
    let detail: String
    switch lack.source {
    case .written(let change, let plan):
      isMine = isMine || change.isDate || image[column].isIdentical(to: change.before)
      let isOwn = [plan.loser, plan.winner].contains { $0.isIdentical(to: id) }
      let target = isOwn ? "" : " to recipient \(plan.winner), which is gone"
      detail =
        isMark && !change.after.isEmpty
        ? "was merged into \(plan.winner) by plan \(plan.id), but column '\(column)' does not record that"
        : "column '\(column)' does not have the value that plan \(plan.id) wrote\(target)\(whose)"
    case .found(let plan):
      detail = "column '\(column)' does not have the value by which plan \(plan.id) found the recipient\(whose)"
    case .user: detail = "column '\(column)' \(isMine ? "is empty" : "names another user")\(whose)"
    }
    return Arrivals.Finding(
      .different, isMark ? .merges : subject, id, detail,
      repair: isMine
        ? repair(lack, isId: isMark, settings, names)
        : "the column has a value that the store does not expect; check in the service whether the recipient belongs to another person"
    )
  }

  /// Returns the finding for an id that the service cannot have issued: a wrong response that the store once accepted.
  func findingOfNoID(_ names: ArrivalNames) -> Arrivals.Finding {
    let shown = String(id.prefix(20)) + (id.count > 20 ? "…" : "")
    return Arrivals.Finding(
      .missing, subject, shown, "cannot be a recipient id of the service\(owners(names))", repair: renewal(names))
  }

  private func owners(_ names: ArrivalNames) -> String {
    guard !devices.isEmpty else { return "" }
    let shown = devices.prefix(3).map { names.personal.id($0.device).text ?? "" }.joined(separator: ", ")
    return " (used by \(devices.count.counted("device")): \(shown))"
  }

  private func renewal(_ names: ArrivalNames) -> String {
    devices.isEmpty
      ? "no action needed: no device in the store uses it any more"
      : names.onStore("identity", "renew", id) + "; then the next run gives its devices another recipient"
  }

  /// - Parameter isId: Whether the value identifies a recipient rather than a person.
  private func repair(_ lack: Lack, isId: Bool, _ settings: IdentitySettings, _ names: ArrivalNames) -> String {
    let (column, value) = (lack.id.name, lack.id.value)
    if let holder = lack.holder {
      return
        "recipient \(holder) has that value in '\(column)'; check in the service which of the two belongs to the person"
    }
    guard isId || value.isEmpty || names.personal.policy == .clear else {
      return "'verify --show-personal-data' shows the command that sets column '\(column)' again"
    }
    return names.onService([
      "xmlapi", "UpdateRecipient", "--param", "LIST_ID=\(settings.list)", "--param", "RECIPIENT_ID=\(id)", "--column",
      "\(column)=\(value)",
    ])
  }
}
