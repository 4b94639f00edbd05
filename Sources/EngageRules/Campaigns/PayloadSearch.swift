import EngageModel

/// Looks for keys in notification payloads (spec engage-events 2.1).
enum PayloadSearch {
  /// The string at the shallowest place where the key holds one; of several at one depth, the first by key path.
  ///
  /// Objects are entered, arrays are not; other kinds of value do not count, an empty string does.
  static func string(_ key: Text, in payload: JSONView) -> Text? {
    guard payload.kind == .object else { return nil }
    if let text = payload[key]?.string { return text }
    var level = children(of: payload, under: [])
    while !level.isEmpty {
      level.sort { precedes($0.path, $1.path) }
      for place in level {
        if let text = place.object[key]?.string { return text }
      }
      level = level.flatMap { children(of: $0.object, under: $0.path) }
    }
    return nil
  }

  private struct Place {
    var path: [Text]
    var object: JSONView
  }

  private static func children(of object: JSONView, under path: [Text]) -> [Place] {
    var places: [Place] = []
    for member in object.members where member.value.kind == .object {
      places.append(Place(path: path + [member.key], object: member.value))
    }
    return places
  }

  private static func precedes(_ one: [Text], _ other: [Text]) -> Bool {
    for (left, right) in zip(one, other) where left != right { return left < right }
    return one.count < other.count
  }

  /// The text shown to the user: `aps.alert`, or `aps.alert.body`, if it is a string; else empty (spec engage-events 1.7).
  static func displayedMessage(in payload: JSONView?) -> Text {
    guard let alert = payload?["aps"]?["alert"] else { return .empty }
    return alert.string ?? alert["body"]?.string ?? .empty
  }
}
