package import BatchFoundation

/// Everything that the rules remember about a device between records and, encoded, between runs. Its texts point into
/// the memory of the device's records, or of the bytes from which it was decoded.
package struct GameState {
  package var device: Text
  package var block = DeviceBlock()
  /// Empty until a user is known.
  package var user: Text = .empty
  /// The key K of the last `clearPersistentData`, from which the next user is generated.
  package var cleared: NameUUID?
  /// The users who have already had an app start or a stored event on the device, and are therefore not new to it.
  package var known = PlayerSet()
  package var optedOut = PlayerSet()
  /// The users for whom `ddnaForgetMe` was emitted; all of them have opted out.
  package var forgotten = PlayerSet()
  /// Nil until a record sets it. The same holds for `export`.
  package var use: Bool?
  package var export: Bool?
  package var crossGameUserID: Text = .empty
  package var pushToken: Text = .empty
  package var phase = Phase.off
  /// Empty outside a session.
  package var session: Text = .empty
  /// The last `sessionID` since the user changed; empty if there was none.
  package var lastSession: Text = .empty
  /// The start of the session; nil outside a session, and once its length has been recorded.
  package var sessionBegan: Instant?
  package var triggers = TriggerCounts()
  /// The instant of the last record processed in order; nil if there is none.
  package var lastSeen: Instant?
  /// The kind of that record; `lastSource` is the place where it was read.
  package var lastKind = InputKind.events
  package var lastSource = StoredSource.unknown
  /// The last emission number used, or the number after which those for the last record start, if that is higher.
  package var emission: Int64 = 0

  package init(device: Text) { self.device = device }
}

/// The phase of an app (reference deltadna 4).
package enum Phase: Equatable, Sendable {
  case off
  case on
  case away(since: Instant)
  /// A session that an event began, without lifecycle records.
  case open(last: Instant)
}

extension GameState {
  package var isDenied: Bool { use == false || export == false }
  package var isOptedOut: Bool { !user.isEmpty && optedOut.contains(user) }

  /// The consents currently given.
  @inline(__always)
  package var consent: PIPLConsent {
    PIPLConsent(
      rawValue: (use == true ? PIPLConsent.use.rawValue : 0) | (export == true ? PIPLConsent.export.rawValue : 0))
  }

  /// The last use of the current session if inactivity can end it and its length is not yet recorded; otherwise nil.
  package var lastUseOfOpenSession: Instant? { sessionBegan == nil ? nil : lastUse }

  /// The last use of the current session if its length was already recorded; otherwise nil. If the app was used again
  /// after its length was recorded, that length does not extend to this last use.
  package var lastUseOfMeasuredSession: Instant? { sessionBegan == nil && !session.isEmpty ? lastUse : nil }

  private var lastUse: Instant? {
    switch phase {
    case .away(let last), .open(let last): last
    case .off, .on: nil
    }
  }

  /// The state on one line, for explanations and listings.
  package var summary: String {
    var parts: [String] = []
    parts.append(user.isEmpty ? "no user yet" : "user \(user)")
    switch phase {
    case .off: parts.append("off")
    case .on: parts.append("on")
    case .away(let since): parts.append("away since \(since.eventTimestamp)")
    case .open(let last): parts.append("open, last event \(last.eventTimestamp)")
    }
    parts.append(session.isEmpty ? "no session" : "session \(session)")
    if isOptedOut { parts.append("opted out") }
    if isDenied { parts.append("consent denied") }
    return parts.joined(separator: "; ")
  }
}

/// The users of a device, as 128-bit digests of their ids, because a shared device can have many.
package struct PlayerSet: Sendable, Equatable {
  /// The digests in ascending order.
  package private(set) var digests: [LineDigest] = []

  package init() {}

  /// Creates the set; nil unless the digests are in strictly ascending order.
  init?(sorted digests: [LineDigest]) {
    for index in digests.indices.dropFirst() where !(digests[index - 1] < digests[index]) { return nil }
    self.digests = digests
  }

  package func contains(_ user: Text) -> Bool {
    guard !digests.isEmpty else { return false }
    let digest = Self.digest(user)
    let place = place(of: digest)
    return place < digests.count && digests[place] == digest
  }

  /// - Returns: whether the user was not in the set.
  @discardableResult
  package mutating func insert(_ user: Text) -> Bool {
    let digest = Self.digest(user)
    let place = place(of: digest)
    if place < digests.count, digests[place] == digest { return false }
    digests.insert(digest, at: place)
    return true
  }

  private static func digest(_ user: Text) -> LineDigest { LineDigest(line: user, kind: .events) }

  private func place(of digest: LineDigest) -> Int { digests.place { $0 < digest } }
}
