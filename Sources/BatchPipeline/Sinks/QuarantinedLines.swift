import BatchFoundation
import BatchIngest
import BatchReport

/// Selects which of a run's quarantined lines to show: the first ones, and examples across reasons and files.
///
/// The selection does not depend on the order in which threads find them.
final class QuarantinedLines: Sendable {
  static let shown = 20
  /// The number shown if no store keeps the lines.
  static let shownWithoutStore = 200
  /// The maximum numbers of files with examples per reason, and of examples per file. The first ones are kept.
  private static let filesOfReason = 8
  private static let linesOfFile = 4

  private struct State {
    var first: [QuarantinedLine] = []
    var examples: [QuarantineReason: [ByteText: [QuarantinedLine]]] = [:]
    var causes: CauseTally
  }

  private let limit: Int
  private let state: Guarded<State>

  init(atMost limit: Int, _ dictionary: FieldDictionary) {
    self.limit = limit
    state = Guarded(State(causes: CauseTally(dictionary)))
  }

  func add(_ lines: [QuarantinedLine]) {
    let more = lines.kept
    state.withLock { state in
      for line in more {
        Self.add(line, to: &state.examples[line.reason, default: [:]])
        state.causes.add(line)
      }
      state.first += more
      guard state.first.count > limit else { return }
      state.first.sort(by: Self.precedes)
      state.first.removeLast(state.first.count - limit)
    }
  }

  var causes: [FindingCause] { state.withLock(\.causes.causes) }

  /// The first lines, sorted by file and line.
  var first: [QuarantinedLine] {
    state.withLock { $0.first.sorted(by: Self.precedes) }
  }

  /// Returns at most `count` lines, sorted by file and line. The first line of each reason and file is preferred, then
  /// the second one and so on, then the first lines overall.
  func examples(atMost count: Int) -> [QuarantinedLine] {
    let examples = state.withLock(\.examples)
    let ranked = examples.values.flatMap(\.values).flatMap {
      $0.enumerated().map { (rank: $0.offset, line: $0.element) }
    }
    var chosen = ranked.sorted { one, other in
      one.rank != other.rank ? one.rank < other.rank : Self.precedes(one.line, other.line)
    }.prefix(count).map(\.line)
    var places = Set(chosen.map(Place.init))
    for line in first where chosen.count < count && places.insert(Place(line)).inserted { chosen.append(line) }
    return chosen.sorted(by: Self.precedes)
  }

  private struct Place: Hashable {
    var file: ByteText
    var line: UInt64
    var offset: UInt64

    init(_ line: QuarantinedLine) {
      file = ByteText(line.file)
      self.line = line.line
      offset = line.offset
    }
  }

  private static func add(_ line: QuarantinedLine, to files: inout [ByteText: [QuarantinedLine]]) {
    let file = ByteText(line.place.file)
    if files[file] == nil, files.count == filesOfReason, let last = files.keys.max() {
      guard file < last else { return }
      files[last] = nil
    }
    var lines = files[file] ?? []
    guard lines.count < linesOfFile || precedes(line, lines[linesOfFile - 1]) else { return }
    lines.append(line)
    lines.sort(by: precedes)
    files[file] = Array(lines.prefix(linesOfFile))
  }

  private static func precedes(_ one: QuarantinedLine, _ other: QuarantinedLine) -> Bool {
    // Events from the same line differ only in the last of these.
    (ByteText(one.place.file), one.place.line, one.offset, ByteText(one.file))
      < (ByteText(other.place.file), other.place.line, other.offset, ByteText(other.file))
  }
}

extension [QuarantinedLine] {
  /// The lines except those of forgotten people, which are neither kept nor shown.
  var kept: [QuarantinedLine] { filter { $0.reason != .forgotten } }
}
