import BatchConfiguration
import BatchFoundation
import BatchPlatform
import BatchReport
import BatchStore
import EngageEvents
import EngageIdentity

/// What a recipient has to be like at the service, by what the store wrote there or read from it.
struct ExpectedRecipient {
  var id: String
  var devices: [KnownDevice] = []
  /// What plans wrote to it last, column by column.
  var written: [(change: ColumnChange, plan: MergePlan)] = []
  /// The ids that plans wrote to a recipient that one of its devices had before, in the place of which it came (`identity renew`) if that
  /// one is gone.
  var inherited: [(change: ColumnChange, plan: MergePlan)] = []
  /// Plans that found it by their ids.
  var finders: [MergePlan] = []
  /// Mobile user ids that it was added for or read with; one of them has to be there. Without those of a device that moved over and left
  /// everything as it was.
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
    func key(_ device: String, _ user: String) -> ByteText { ByteText("\(Person.key(user))\0\(device)") }
    let moves = Dictionary(
      plans.filter { $0.index(of: .publishMapping) != nil }.map { (key($0.device, $0.before.mobileUserId), $0) },
      uniquingKeysWith: { $1 })
    func move(_ device: KnownDevice) -> MergePlan? { moves[key(device.device, device.person.mobileUserId)] }
    // The recipients of devices that moved neither by a plan nor by a record.
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
    for device in devices {
      let (id, user) = (device.identity.recipientId, device.identity.mobileUserId)
      if let move = move(device), move.scenario == .reassign || move.scenario == .markMerged,
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

  /// A plan whose ids find neither the recipient any more nor one that went up in it, unless a plan has written others since.
  func outdatedFinder(
    _ image: RecipientImage?, _ settings: IdentitySettings, find: ([IdentityColumn]) throws -> RecipientImage?
  ) throws -> MergePlan? {
    guard let image else { return nil }
    return try finders.first { plan in
      let isWritten = plan.ids.contains { id in written.contains { $0.change.name.isIdentical(to: id.name) } }
      if isWritten || plan.ids.allSatisfy({ RecipientQuestion.isSame(image[$0.name], $0.value) }) { return false }
      do {
        guard let holder = try find(plan.ids.filter { !$0.value.isEmpty }) else { return true }
        return !holder.id.isIdentical(to: id) && holder[settings.recipient.mergedRecipientIdColumn].isEmpty
      } catch RemoteFailure.wrongAnswer {
        return true
      }
    }
  }

  /// What is wrong with the recipient as the service has it; nil for nothing.
  ///
  /// - Parameters:
  ///   - answer: what the service says of it.
  ///   - finder: a plan by whose ids it was found, and is not any more.
  ///   - holders: by mobile user id in lower case that a recipient lacks, a recipient that has it.
  func finding(
    for answer: RecipientReading.Answer, foundBy finder: MergePlan?, _ settings: IdentitySettings,
    _ names: ArrivalNames, _ holders: [ByteText: String]
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
        .unknown, subject, id, "the service says nothing of it\(whose): \(failure)",
        repair: "'verify' again; if it stays so, see at the service whether it is there")
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
    if let finder, let id = finder.ids.first(where: { !RecipientQuestion.isSame(image[$0.name], $0.value) }) {
      return Arrivals.Finding(
        .different, .recipients, self.id, "column '\(id.name)' is not what plan \(finder.id) found it by\(whose)",
        repair: repair(id.name, id.value, isId: false, settings, names, holders))
    }
    let column = settings.recipient.mobileUserIdColumn
    let user = image[column]
    guard !written.contains(where: { $0.change.name.isIdentical(to: column) }),
      let first = missingUser(image, settings)
    else { return nil }
    return Arrivals.Finding(
      .different, .recipients, id, "column '\(column)' \(user.isEmpty ? "is empty" : "names another user")\(whose)",
      repair: user.isEmpty
        ? repair(column, first, isId: false, settings, names, holders)
        : "the store does not know whose id that is: see at the service whether the recipient is another person's")
  }

  /// The mobile user id that the recipient has to have and has not; nil for none.
  func missingUser(_ image: RecipientImage, _ settings: IdentitySettings) -> String? {
    let column = settings.recipient.mobileUserIdColumn
    let user = image[column]
    if let change = written.last(where: { $0.change.name.isIdentical(to: column) })?.change {
      return change.holds(image) || change.after.isEmpty ? nil : change.after
    }
    return users.contains { RecipientQuestion.isSame($0, user) } ? nil : users.first
  }

  /// What is wrong with an id that the service cannot have given: an answer that a store believed has left it.
  func findingOfNoID(_ names: ArrivalNames) -> Arrivals.Finding {
    let shown = String(id.prefix(20)) + (id.count > 20 ? "…" : "")
    return Arrivals.Finding(
      .missing, subject, shown, "is not an id that the service can have given\(owners(names))", repair: renewal(names))
  }

  private func owners(_ names: ArrivalNames) -> String {
    guard !devices.isEmpty else { return "" }
    let shown = devices.prefix(3).map { names.personal.id($0.device).text ?? "" }.joined(separator: ", ")
    return " (of \(devices.count.counted("device")): \(shown))"
  }

  private func renewal(_ names: ArrivalNames) -> String {
    devices.isEmpty
      ? "not needed: no device of the store reports to it any more"
      : names.onStore("identity", "renew", id) + "; then the next run gives its devices another one"
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
    guard isId || value.isEmpty || names.personal.policy == .clear else {
      return "'verify --show-personal-data' shows the command that sets column '\(column)' again"
    }
    return names.onService(
      "xmlapi", "UpdateRecipient", "--param", "LIST_ID=\(settings.list)", "--param", "RECIPIENT_ID=\(id)", "--column",
      "\(column)=\(value)")
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
