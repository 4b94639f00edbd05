import BatchFoundation
import BatchStore
import EngageRules
import GRDB

/// Who is who: a device and a moment name a person, a person has a recipient, and recipients go up in others by merges
/// (reference decisions 58). Nothing else derives it.
///
/// Moments are emission numbers, which are those of instants, so those of one device can be compared with those of another. What was read
/// of the store is kept, so one value serves one transaction.
struct WhoIsWho {
  /// Whom a device records from a number on.
  struct Span {
    var start: Int64
    var person: String
    /// As records write it; empty for none.
    var mobileUserId: String
    /// That records name; empty for none.
    var recipientId: String
    var isAutomatic = false
  }

  /// What a plan that is done says of its device, or of a recipient that it merged, behind its number.
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
      try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM merge_plan WHERE \(Self.speaks) LIMIT 1")) != nil
  }

  /// Of a plan: it is done, and says who its device is.
  private static let speaks = """
    state = '\(MergeState.done.rawValue)' AND is_void = 0 AND scenario NOT IN (\(MergeJournal.instructions), 'set-up', 'none')
    """

  /// Of a plan: one recipient went up in another, and that is still so.
  static let isMerge = """
    state = '\(MergeState.done.rawValue)' AND is_void = 0
    AND scenario IN ('\(MergeScenario.moveMobileUserId.rawValue)', '\(MergeScenario.markMerged.rawValue)')
    """

  /// - Parameters:
  ///   - user: the mobile user id that the device has then; empty for none.
  ///   - recorded: the recipient that its records name then; empty for none.
  ///   - moment: plans of a smaller number count.
  ///   - known: the span, where it is not the one of the moment.
  mutating func identity(
    of device: String, _ user: String, recorded: String, at moment: Int64 = .max, in known: Span? = nil
  ) throws -> DeviceIdentity {
    var identity = DeviceIdentity(recipientId: recorded, mobileUserId: user)
    let (span, end) = try span(of: device, user, at: known?.start ?? moment)
    let said = hasPlans ? try self.statements(of: device) : []
    if let last = said.last(where: { $0.emission < min(moment, end - 1) && $0.emission >= span.start - 1 }) {
      identity = last.identity
    } else if recorded.isEmpty, let person = try person(key: span.person) {
      identity = person.identity
      if user.isEmpty { identity.mobileUserId = person.knownAs }
    }
    identity = try merged(identity, before: moment).last ?? identity
    // The same id, as the record at hand writes it.
    if Person.key(identity.mobileUserId) == Person.key(user) { identity.mobileUserId = user }
    return identity
  }

  /// The recipients in which one went up, beginning with itself.
  ///
  /// - Parameter moment: merges of a smaller number count.
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

  /// Whom a device recorded, one after the other: the recipients that each had before they were merged, and the one that it has now.
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

  /// Who is the same as a person whom a device records from a number on, as known there: its automatic id before that one, or with
  /// `Recipient.onNewUserId` = `rename` any id before it. Nil for nobody, and for an automatic id that went up in the recipient of an id that
  /// some device had recorded by then: it is that one's (reference decisions 58).
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

  /// Whether a mobile user id was made for a device, or recorded by one, before a moment; nil for one that the store does not know by then.
  func isAutomatic(_ user: String, before moment: Int64) throws -> Bool? {
    try Bool.fetchOne(
      db.cachedStatement(sql: "SELECT min(is_automatic) FROM identity_device WHERE person = ? AND from_emission < ?"),
      arguments: [Person.key(user), moment])
  }

  /// Who a device is now; nil for one that no record is of.
  mutating func identity(of device: String) throws -> DeviceIdentity? {
    guard let last = try spans(of: device).last else { return nil }
    return try identity(of: device, name(of: last), recorded: last.recipientId)
  }

  /// Who a device is now as the person whom it records from a number on.
  mutating func identity(of device: String, from start: Int64) throws -> DeviceIdentity {
    guard let span = try spans(of: device).last(where: { $0.start == start }) else { return DeviceIdentity() }
    return try identity(of: device, name(of: span), recorded: span.recipientId, at: .max, in: span)
  }

  /// The mobile user id of a span, also where it was made; empty where none is to be.
  private mutating func name(of span: Span) throws -> String {
    guard span.mobileUserId.isEmpty, let person = try person(key: span.person), person.progress != .unnamed else {
      return span.mobileUserId
    }
    return person.mobileUserId
  }

  /// The span that a moment lies in, and where the next one begins. What comes before the first one belongs to it.
  ///
  /// - Parameter user: that counts, where a record of long ago names another one than the moment does.
  private mutating func span(of device: String, _ user: String, at moment: Int64) throws -> (Span, end: Int64) {
    let spans = try spans(of: device)
    guard var place = spans.lastIndex(where: { $0.start <= moment }) ?? spans.indices.first else {
      return (Span(start: 0, person: Person.key(user), mobileUserId: user, recipientId: ""), .max)
    }
    let key = Person.key(user)
    if user.isEmpty {
      // Nobody was named yet: the first one who is.
      while place + 1 < spans.count, try person(key: spans[place].person)?.recipientId.isEmpty != false { place += 1 }
    } else if spans[place].person != key {
      guard let known = spans[..<place].lastIndex(where: { $0.person == key }) else {
        return (Span(start: moment, person: key, mobileUserId: user, recipientId: ""), moment)
      }
      place = known
    }
    return (spans[place], place + 1 < spans.count ? spans[place + 1].start : .max)
  }

  /// By their numbers.
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
    let read = try plans("device = ?", device, Self.speaks)
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
