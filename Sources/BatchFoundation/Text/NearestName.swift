/// Finds the name that was probably meant.
public enum NearestName {
  /// Bytes of a name; longer ones are near to nothing.
  private static let longest = 200

  /// The candidate closest to `name`, letter case aside, if it is close enough to be a slip of the hand; the first one of
  /// equally close ones.
  public static func of(_ name: String, among candidates: [String]) -> String? {
    // Nobody meant a short name by a long one.
    guard name.utf8.count <= longest else { return nil }
    let wanted = lowercased(name)
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(wanted, lowercased(candidate))
      if distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    guard let best, best.distance <= max(2, wanted.count / 3) else { return nil }
    return best.name
  }

  /// The question whether one of the names was meant; nil for none.
  public static func question(_ names: [String]) -> String? {
    names.isEmpty ? nil : "did you mean \(names.map { "'\($0)'" }.joined(separator: " or "))?"
  }

  public static func question(_ name: String) -> String { "did you mean '\(name)'?" }

  /// The question whether the candidate was meant that ``of(_:among:)`` finds; nil if it finds none.
  public static func question(about name: String, among candidates: [String]) -> String? {
    of(name, among: candidates).map { question($0) }
  }

  /// Whether one could be a slip of the hand for the other, letter case aside, or the beginning of it.
  public static func isNear(_ name: String, _ other: String) -> Bool {
    let (one, two) = (lowercased(name), lowercased(other))
    if one.count >= 4, two.starts(with: one) { return true }
    return abs(one.count - two.count) <= 2 && distance(one, two) <= 2
  }

  /// Insertions, deletions, replacements and swaps of neighbours that lead from one name to the other.
  public static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var beforeLast = [Int](repeating: 0, count: other.count + 1)
    var last = Array(0...other.count)
    for row in 0..<one.count {
      var current = [row + 1] + [Int](repeating: 0, count: other.count)
      for column in 0..<other.count {
        let replaced = last[column] + (one[row] == other[column] ? 0 : 1)
        current[column + 1] = min(replaced, last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
          current[column + 1] = min(current[column + 1], beforeLast[column - 1] + 1)
        }
      }
      beforeLast = last
      last = current
    }
    return last[other.count]
  }

  private static func lowercased(_ name: String) -> [UInt8] {
    name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}
