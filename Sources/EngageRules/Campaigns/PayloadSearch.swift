import BatchFoundation

/// Looks for keys in notification payloads (reference events 2.1).
enum PayloadSearch {
  /// The text at the shallowest place where the key holds one; of several at one depth, the first by key path.
  ///
  /// A string counts, also an empty one, and a number as it is written (reference decisions 25). Objects are entered,
  /// arrays are not; other kinds of value do not count.
  static func text(_ key: Text, in payload: JSONView) -> Text? {
    guard payload.kind == .object else { return nil }
    return shallowest(key, in: payload, at: 0, atMost: .max)?.text
  }

  private struct Hit {
    var text: Text
    var depth: Int
  }

  /// - Parameter deepest: a hit below that depth does not count.
  private static func shallowest(_ key: Text, in object: JSONView, at depth: Int, atMost deepest: Int) -> Hit? {
    if let value = object[key], let text = value.string ?? value.number { return Hit(text: text, depth: depth) }
    var best: (hit: Hit, child: Text)?
    for (child, value) in object.members where value.kind == .object {
      // What comes later has to be less deep than the best so far, or as deep under a smaller key.
      let allowed = best.map { child < $0.child ? $0.hit.depth : $0.hit.depth - 1 } ?? deepest
      guard depth < allowed else { continue }
      if let hit = shallowest(key, in: value, at: depth + 1, atMost: allowed) { best = (hit, child) }
    }
    return best?.hit
  }

  /// The text shown to the user: `aps.alert`, or `aps.alert.body`, if it is a string; else empty (reference events 1.7).
  static func displayedMessage(in payload: JSONView?) -> Text {
    guard let alert = payload?["aps"]?["alert"] else { return .empty }
    return alert.string ?? alert["body"]?.string ?? .empty
  }
}
