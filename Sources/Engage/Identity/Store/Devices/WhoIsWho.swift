import BatchFoundation
import BatchStore
import GRDB

/// The only code that derives identities: a device and a moment name a person, a person has a recipient, and recipients
/// are merged into others (reference decisions 58).
///
/// Moments are emission numbers, which follow from instants, so those of different devices can be compared. Rows are
/// cached, so a value must not outlive its transaction.
struct WhoIsWho {
  /// The person whom a device records from an emission number on.
  struct Span {
    var start: Int64
    var person: String
    /// The mobile user id as written in records; empty for none.
    var mobileUserId: String
    /// The recipient that records name; empty for none.
    var recipientId: String
    var isAutomatic = false
  }

  /// The identity that a completed plan gives to its device, or to the recipient that it merged, after the plan's
  /// emission number.
  struct Statement {
    var emission: Int64
    var identity: DeviceIdentity
    var movesUser: Bool
  }

  private let db: Database
  private let hasPlans: Bool
  private var spans: [String: [Span]] = [:]
  private var statements: [String: [Statement]] = [:]
  private var merges: [String: [Statement]] = [:]
  private var persons: [String: Person?] = [:]

  init(_ db: Database) throws {
    self.db = db
    hasPlans =
      try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM merge_plan WHERE \(Self.givesIdentity) LIMIT 1")) != nil
  }

  /// The SQL condition for a plan that is done and determines the identity of its device.
  private static let givesIdentity = """
    state = '\(MergeState.done.rawValue)' AND is_void = 0 AND scenario NOT IN (\(MergeJournal.instructions), 'set-up', 'none')
    """

  /// The SQL condition for a merge of two recipients that is in effect.
  static let isMerge = """
    state = '\(MergeState.done.rawValue)' AND is_void = 0
    AND scenario IN ('\(MergeScenario.moveMobileUserId.rawValue)', '\(MergeScenario.markMerged.rawValue)')
    """

  /// - Parameters:
  ///   - user: The mobile user id of the device at that moment; empty for none.
  ///   - recorded: The recipient that its records name at that moment; empty for none.
  ///   - moment: The emission number below which plans count.
  ///   - known: The span to use; nil for the one at the moment.
  mutating func identity(
    of device: String, _ user: String, recorded: String, at moment: Int64 = .max, in known: Span? = nil
  ) throws -> DeviceIdentity {
    var identity = DeviceIdentity(recipientId: recorded, mobileUserId: user)
    let (span, end) = try span(of: device, user, at: known?.start ?? moment)
    let known = hasPlans ? try self.statements(of: device) : []
    if let last = known.last(where: { $0.emission < min(moment, end - 1) && $0.emission >= span.start - 1 }) {
      identity = last.identity
    } else if recorded.isEmpty, let person = try person(key: span.person), person.progress != .unnamed {
      identity = person.identity
      if user.isEmpty { identity.mobileUserId = person.knownAs }
    }
    identity = try merged(identity, before: moment).last ?? identity
    // An equal id keeps the spelling of the current record.
    if Person.key(identity.mobileUserId) == Person.key(user) { identity.mobileUserId = user }
    return identity
  }

  /// Returns the recipient and those into which it was merged in turn, by plans with emission numbers below `moment`.
  private mutating func merged(_ first: DeviceIdentity, before moment: Int64 = .max) throws -> [DeviceIdentity] {
    var chain = [first]
    var seen: Set<String> = [first.recipientId]
    while hasPlans, var last = chain.last,
      let merge = try mergesAway(of: last.recipientId).last(where: { $0.emission < moment })
    {
      last.recipientId = merge.identity.recipientId
      if !merge.movesUser { last.mobileUserId = merge.identity.mobileUserId }
      guard seen.insert(last.recipientId).inserted else { break }
      chain.append(last)
    }
    return chain
  }

  /// Returns the identities before merges and the current one for each person whom a device recorded, in order.
  mutating func history(of device: String) throws -> [(before: [DeviceIdentity], now: DeviceIdentity)] {
    try spans(of: device).map { span in
      let user = try name(of: span)
      let now = try identity(of: device, user, recorded: span.recipientId, at: .max, in: span)
      let own =
        span.recipientId.isEmpty
        ? try person(key: span.person)?.identity ?? now
        : DeviceIdentity(recipientId: span.recipientId, mobileUserId: user)
      let before = try merged(own).filter { !$0.recipientId.isIdentical(to: now.recipientId) }
      let isMerged = try merged(own).last?.recipientId.isIdentical(to: now.recipientId) == true
      return (isMerged ? before : [], now)
    }
  }

  /// Returns the person whom the device recorded before `start`, if that is the same person as from `start` on: one
  /// with the device's automatic id or, if `renames` is true (`Recipient.onNewUserId` = `rename`), with any id. Returns
  /// nil if there is none or, without `renames`, if that person's recipient was merged into the recipient of another id
  /// that some device had recorded by then (reference decisions 58).
  mutating func predecessor(
    of person: String, on device: String, from start: Int64, renames: Bool = false
  ) throws -> KnownDevice? {
    guard let span = try spans(of: device).last(where: { $0.start < start }), renames || span.isAutomatic,
      let before = try self.person(key: span.person), before.key != person
    else { return nil }
    let identity = try merged(before.identity).last ?? before.identity
    let isOthers =
      try ![before.key, person].contains(Person.key(identity.mobileUserId))
      && isAutomatic(identity.mobileUserId, before: start) == false
    return isOthers && !renames ? nil : KnownDevice(device: device, person: before, identity: identity)
  }

  /// Whether a mobile user id had only been generated, not recorded, before a moment; nil if no device had it by then.
  func isAutomatic(_ user: String, before moment: Int64) throws -> Bool? {
    try Bool.fetchOne(
      db.cachedStatement(sql: "SELECT min(is_automatic) FROM identity_device WHERE person = ? AND from_emission < ?"),
      arguments: [Person.key(user), moment])
  }

  /// Returns the current identity of a device as the person whom it records from `start` on.
  mutating func identity(of device: String, from start: Int64) throws -> DeviceIdentity {
    guard let span = try spans(of: device).last(where: { $0.start == start }) else { return DeviceIdentity() }
    return try identity(of: device, name(of: span), recorded: span.recipientId, at: .max, in: span)
  }

  /// Returns the mobile user id of a span, even if generated; empty if none may be generated.
  private mutating func name(of span: Span) throws -> String {
    guard span.mobileUserId.isEmpty, let person = try person(key: span.person), person.progress != .unnamed else {
      return span.mobileUserId
    }
    return person.mobileUserId
  }

  /// Returns the span at a moment (the first one for any earlier moment) and the start of the next. If a late record
  /// names a different user than that span, the span of `user` counts.
  private mutating func span(of device: String, _ user: String, at moment: Int64) throws -> (Span, end: Int64) {
    let spans = try spans(of: device)
    guard var place = spans.lastIndex(where: { $0.start <= moment }) ?? spans.indices.first else {
      return (Span(start: 0, person: Person.key(user), mobileUserId: user, recipientId: ""), .max)
    }
    let key = Person.key(user)
    if !user.isEmpty, spans[place].person != key {
      guard let known = spans[..<place].lastIndex(where: { $0.person == key }) else {
        return (Span(start: moment, person: key, mobileUserId: user, recipientId: ""), moment)
      }
      place = known
    }
    return (spans[place], place + 1 < spans.count ? spans[place + 1].start : .max)
  }

  /// Returns the spans of a device, sorted by emission number.
  mutating func spans(of device: String) throws -> [Span] {
    if let known = spans[device] { return known }
    let read = try Row.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT from_emission, person, mobile_user_id, recipient_id, is_automatic FROM identity_device WHERE device = ?
          ORDER BY from_emission
          """), arguments: [device]
    ).map {
      try Span(
        start: $0.emission("from_emission"), person: $0.value("person"), mobileUserId: $0.value("mobile_user_id"),
        recipientId: $0.value("recipient_id"), isAutomatic: $0.value("is_automatic"))
    }
    spans[device] = read
    return read
  }

  private mutating func statements(of device: String) throws -> [Statement] {
    if let known = statements[device] { return known }
    let read = try plans("device = ?", device, Self.givesIdentity)
    statements[device] = read
    return read
  }

  private mutating func mergesAway(of recipient: String) throws -> [Statement] {
    if let known = merges[recipient] { return known }
    let read = try plans("loser = ?", recipient, Self.isMerge)
    merges[recipient] = read
    return read
  }

  private func plans(_ condition: String, _ value: String, _ kind: String) throws -> [Statement] {
    try Row.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT emission, recipient_after, user_after, scenario FROM merge_plan WHERE \(condition) AND \(kind)
          ORDER BY emission, id
          """), arguments: [value]
    ).map {
      try Statement(
        emission: $0.emission("emission"),
        identity: DeviceIdentity(recipientId: $0.value("recipient_after"), mobileUserId: $0.value("user_after")),
        movesUser: $0.value("scenario") == MergeScenario.moveMobileUserId.rawValue)
    }
  }

  mutating func person(key: String) throws -> Person? {
    if let known = persons[key] { return known }
    let read = try Identities.person(key: key, in: db)
    persons[key] = read
    return read
  }
}
