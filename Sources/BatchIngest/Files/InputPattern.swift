package import BatchFoundation

package struct InputPattern: Sendable {
  package var kind: InputKind
  package var input: JobInput
  /// The map for files that match the pattern; nil for lines in the project's own format.
  package var map: InputMap?

  package init(_ kind: InputKind, _ input: JobInput, map: InputMap? = nil) {
    (self.kind, self.input, self.map) = (kind, input, map)
  }

  package init(_ kind: InputKind, _ path: String, map: InputMap? = nil) {
    self.init(kind, JobInput(path: path), map: map)
  }

  /// The name used in messages.
  var name: String {
    let path = "'\(input.path.printable)'"
    return input.label.map { "\($0.printable) (\(path))" } ?? path
  }

  /// The patterns to search for: the path itself, or one per day.
  var paths: [(pattern: String, day: Int64?)] {
    input.days.map { $0.map { ($0.path, $0.number) } } ?? [(input.path, nil)]
  }

  /// Returns whether a pattern would find a file directly or in a folder. `path` and `pattern` are absolute paths or
  /// addresses without date patterns.
  ///
  /// - Parameter hidden: whether names with a leading `.` or `_` are found like others.
  package static func finds(_ path: String, by pattern: String, hidden: Bool = false) -> Bool {
    func isHidden(_ name: [UInt8]) -> Bool { !hidden && NamePattern.isHidden(name) }
    func finds(_ names: ArraySlice<[UInt8]>, _ patterns: ArraySlice<[UInt8]>) -> Bool {
      guard let pattern = patterns.first else { return !names.contains(where: isHidden) }
      if pattern.elementsEqual("**".utf8) {
        let last = names.firstIndex(where: isHidden) ?? names.endIndex
        return (names.startIndex...last).contains { finds(names[$0...], patterns.dropFirst()) }
      }
      guard let name = names.first, NamePattern(pattern).matches(name, hidden: hidden) else { return false }
      return finds(names.dropFirst(), patterns.dropFirst())
    }
    guard RemoteAddress(pattern) != nil else {
      return finds(PathText.names(of: path)[...], PathText.names(of: pattern)[...])
    }
    // In keys, `.`, `..` and the empty name have no special meaning.
    func names(_ address: String) -> [[UInt8]] {
      address.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
    }
    return finds(names(path)[...], names(pattern.hasSuffix("/") ? String(pattern.dropLast()) : pattern)[...])
  }
}

extension [InputPattern] {
  /// The patterns grouped by map, in the order in which each map first appears.
  var byMap: [[InputPattern]] {
    var groups: [[InputPattern]] = []
    for pattern in self {
      if let place = groups.firstIndex(where: { $0[0].map == pattern.map }) {
        groups[place].append(pattern)
      } else {
        groups.append([pattern])
      }
    }
    return groups
  }
}

extension InputFiles {
  /// Returns the paths that patterns match, without opening the files; addresses, and paths that cannot be examined, are
  /// omitted.
  package static func paths(_ patterns: [String], in folder: String) -> [String] {
    var search = FileSearch()
    // Reading the files later reports the error.
    for pattern in patterns { _ = try? search.add(pattern, in: folder) }
    return search.found.map(\.description)
  }

  /// Throws if the files of any input have fewer usable records than its minimum.
  ///
  /// - Parameter counts: the number of usable records of each file.
  /// - Throws: ``InputError/short(_:)``.
  package func refuseShort(_ counts: [Int]) throws {
    let short = minima.map { (minimum: $0, count: $0.files.reduce(0) { $0 + counts[$1] }) }
      .filter { $0.count < $0.minimum.records }
    guard short.isEmpty else {
      throw InputError.short(
        short.map {
          ShortInput(input: $0.minimum.input, count: $0.count, least: $0.minimum.records)
        })
    }
  }
}

package struct MissingInput: Sendable, Equatable, CustomStringConvertible {
  package var input: String
  /// The days without a file, in ascending order, as days since 1970; empty for an input without days.
  package var days: [Int64] = []
  /// Whether the path is a folder without files.
  package var isFolder = false

  package var description: String {
    "input \(input) \(isFolder ? "is a folder without files" : "matches nothing")\(Self.words(days))"
  }

  /// Returns the days in words, such as ` for 2026-01-14`, with consecutive days as a range; empty if there are no
  /// days.
  static func words(_ days: [Int64]) -> String {
    guard !days.isEmpty else { return "" }
    func text(_ day: Int64) -> String { String(Instant(milliseconds: day * DaySpans.day).rfc3339.prefix(10)) }
    let runs = DaySpans.runs(of: days).map { run in
      run.count == 1 ? text(run.lowerBound) : "\(text(run.lowerBound)) to \(text(run.upperBound))"
    }
    return " for " + runs.joined(separator: ", ")
  }
}

/// An input with fewer records than required.
package struct ShortInput: Sendable, Equatable, CustomStringConvertible {
  package var input: String
  package var count: Int
  package var least: Int

  package init(input: String, count: Int, least: Int) {
    (self.input, self.count, self.least) = (input, count, least)
  }

  package var description: String {
    "input \(input) has \(count.counted("usable record")), but needs \(least.grouped) (minRecords)"
  }
}

/// The number of usable records that the files of an input must have together.
struct LineMinimum: Sendable {
  var input: String
  var records: Int
  /// Indices into ``InputFiles/files``.
  var files: [Int]

  init(_ input: InputPattern, among files: [InputFile], in folder: String) throws {
    self.input = input.name + MissingInput.words(input.paths.compactMap(\.day))
    records = input.input.minRecords ?? 0
    var search = FileSearch()
    let patterns = input.input.patterns
    for pattern in patterns where RemoteAddress(pattern) == nil { _ = try search.add(pattern, in: folder) }
    self.files = files.indices.filter { place in
      let file = files[place]
      let isFound =
        file.remote == nil
        ? search.found.contains(file.path)
        : patterns.contains { RemoteAddress($0) != nil && InputPattern.finds(file.path.description, by: $0) }
      return file.kind == input.kind && isFound
    }
  }
}
