package import BatchFoundation

/// Everything the rules remember of a device between records and, encoded, between runs.
///
/// Its texts lie in the memory that the device's records lie in; ``encoded()`` and ``init(decoding:in:)`` carry it over.
package struct GameState {
  package var device: Text
  package var block = DeviceBlock()
  /// Empty before the first.
  package var user: Text = .empty
  /// K of the last `clearPersistentData`, which the next generated user is made from.
  package var cleared: RecordKey?
  /// Had a start or a stored event on the device: not new to it any more.
  package var known = PlayerSet()
  package var optedOut = PlayerSet()
  /// Of those that opted out, the ones that `ddnaForgetMe` was sent for.
  package var forgotten = PlayerSet()
  /// Nil where nobody said so.
  package var use: Bool?
  package var export: Bool?
  package var crossGameUserID: Text = .empty
  package var pushToken: Text = .empty
  package var phase = Phase.off
  /// Empty outside a session.
  package var session: Text = .empty
  /// The last `sessionID` since the user changed; empty if there was none.
  package var lastSession: Text = .empty
  /// When the session began, as far as that is known; nil outside one, and when its length has been taken.
  package var sessionBegan: Instant?
  package var triggers = TriggerCounts()
  /// The instant of the newest record.
  package var lastSeen: Instant?
  /// Of the last record at that instant.
  package var lastKind = InputKind.events
  package var lastSource = StoredSource.unknown
  /// Emission number of the last event or engagement.
  package var emission: Int64 = 0

  package init(device: Text) { self.device = device }
}

/// Where an app stands (reference deltadna 4).
package enum Phase: Equatable, Sendable {
  case off
  case on
  case away(since: Instant)
  /// In a session that an event began, without a sign of the app's life.
  case open(last: Instant)
}

extension GameState {
  package var isDenied: Bool { use == false || export == false }
  package var isOptedOut: Bool { !user.isEmpty && optedOut.contains(user) }

  /// What was given by now.
  @inline(__always)
  package var consent: Consent {
    Consent(
      rawValue: (use == true ? Consent.use.rawValue : 0) | (export == true ? Consent.export.rawValue : 0))
  }

  /// When the session at hand was last in use, where silence can show that it is over and its length has not been taken.
  package var lastUseOfOpenSession: Instant? { sessionBegan == nil ? nil : lastUse }

  /// The same, where its length was taken by silence: after this use of it, or after an earlier one where the app went away twice.
  package var lastUseOfMeasuredSession: Instant? { sessionBegan == nil && !session.isEmpty ? lastUse : nil }

  private var lastUse: Instant? {
    switch phase {
    case .away(let last), .open(let last): last
    case .off, .on: nil
    }
  }

  /// One line for explanations and listings.
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

/// Users that a device has met, by 128-bit digests of their ids: a shared device can have many.
package struct PlayerSet: Sendable, Equatable {
  /// In ascending order.
  package private(set) var digests: [LineDigest] = []

  package init() {}

  /// - Parameter digests: in ascending order, each once; nil for others.
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

  /// - Returns: whether the user was not in it.
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
