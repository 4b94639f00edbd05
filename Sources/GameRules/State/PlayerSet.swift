package import BatchFoundation

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
