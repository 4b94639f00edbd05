/// Finds the name that was probably meant.
public enum NearestName {
  /// The maximum length in bytes of a name for which candidates are compared.
  private static let longest = 200

  /// Returns the candidate closest to `name`, ignoring case, if `name` could be a misspelling of it; the first one if
  /// several are equally close.
  public static func of(_ name: String, among candidates: [String]) -> String? {
    // A longer name is not a misspelling of a candidate.
    guard name.utf8.count <= longest else { return nil }
    let wanted = name.utf8.map(Text.lowered)
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(wanted, candidate.utf8.map(Text.lowered))
      if distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    guard let best, best.distance <= max(2, wanted.count / 3) else { return nil }
    return best.name
  }

  /// Returns a question that suggests the names; nil if there are none.
  public static func question(_ names: [String]) -> String? {
    names.isEmpty ? nil : "did you mean \(names.map { "'\($0)'" }.joined(separator: " or "))?"
  }

  public static func question(_ name: String) -> String { "did you mean '\(name)'?" }

  /// Returns a question that suggests the candidate that ``of(_:among:)`` finds; nil if there is none.
  public static func question(about name: String, among candidates: [String]) -> String? {
    of(name, among: candidates).map { question($0) }
  }

  /// Returns whether, ignoring case, each could be a misspelling of the other, or `other` begins with `name`.
  public static func isNear(_ name: String, _ other: some Collection<UInt8>) -> Bool {
    let length = name.utf8.count
    // Most names in a long list have a different length.
    guard length >= 4 ? other.count >= length - 2 : abs(other.count - length) <= 2 else { return false }
    let (one, two) = (name.utf8.map(Text.lowered), other.map(Text.lowered))
    if length >= 4, two.starts(with: one) { return true }
    return abs(one.count - two.count) <= 2 && distance(one, two, atMost: 2) <= 2
  }

  /// Returns the minimum number of insertions, deletions, replacements and swaps of neighbors between two names.
  ///
  /// - Parameter limit: the largest distance of interest; for larger distances, any number above it may be returned.
  public static func distance(_ one: [UInt8], _ other: [UInt8], atMost limit: Int = .max) -> Int {
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
      (beforeLast, last) = (last, current)
      // Every later row is computed from these two.
      if let least = last.min(), least > limit, beforeLast.allSatisfy({ $0 > limit }) { return least }
    }
    return last[other.count]
  }
}
