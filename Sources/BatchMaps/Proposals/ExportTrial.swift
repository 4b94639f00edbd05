package import BatchFoundation
package import BatchIngest

/// What the reader of a run makes of the first records of an export.
package struct ExportTrial {
  /// Foreign ones.
  package private(set) var records = 0
  package private(set) var accepted = 0
  package private(set) var refused = 0
  /// Hashes of the lines that are accepted.
  package private(set) var lines: Set<Int> = []
  /// What became of those that are none of the project's own, by reason.
  package private(set) var others: [String: Int] = [:]
  /// Rows that are odd, by what is wrong with them: how many, and the first.
  private var oddRows: [String: (count: Int, first: UInt64)] = [:]
  /// Members that no rule reads, and in how many records each is.
  package private(set) var unread: [String: Int] = [:]
  /// Fields of the map of which no record has a value, with the paths that they are read from.
  package private(set) var empty: [(field: String, paths: [String])] = []
  /// Of the first records, what each becomes.
  package private(set) var samples: [(number: UInt64, becomes: String)] = []
  /// Whether a record has more than device, time, type and name.
  package private(set) var hasMore = false
  /// Records of times when no phone recorded, and of the first its number, its time and the text of it in quotes.
  package private(set) var oddTimes: (count: Int, number: UInt64, time: Instant, text: String)?
  /// By field, an id that names nobody, and how many records have such a one.
  package private(set) var nobody: [String: (text: String, count: Int)] = [:]
  /// Whether there may be more of them.
  private var isCut = false
  private var devices: Set<String> = []
  private var people: Set<String> = []
  private var span: ClosedRange<Instant>?

  /// Others may call a device, a time and a name like a vendor; then nothing more of their records is read.
  private static let telling = ["params", "payload", "recordId", "mobileUserId", "device", "url", "eventUUID"]
  /// Records that are shown.
  private static let shown = 3
  /// Records whose members are looked at.
  private static let compared = 200

  /// - Parameters:
  ///   - files: with the map that they share, or none.
  ///   - vocabulary: of the platform that the records are for.
  ///   - limit: at most so many foreign records, of all files alike.
  ///   - likely: when phones recorded.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package init(
    of files: [InputFile], _ vocabulary: any RecordVocabulary, limit: Int = MapProposal.recordLimit,
    likely: Range<Instant>? = nil
  ) throws {
    let map = files.first?.map?.map as? ForeignMap
    let mapper = map?.makeMapper()
    var raw: [[UInt8]] = []
    let share = max(limit / max(1, files.count), MapProposal.recordLimit)
    for file in files where records < limit {
      let end = min(records + share, limit)
      try file.tryMap(vocabulary, limit: end - records) { add($0, map, mapper, &raw, likely) }
      isCut = isCut || records >= end
    }
    empty = map?.emptyFields(of: raw) ?? []
  }

  private mutating func add(
    _ trial: MapTrial, _ map: ForeignMap?, _ mapper: (any RecordMapper)?, _ raw: inout [[UInt8]],
    _ likely: Range<Instant>?
  ) {
    records += 1
    for outcome in trial.outcomes {
      switch outcome {
      case .line(let line, nil):
        accepted += 1
        lines.insert(line.hashValue)
        add(line)
      case .leftOut(let reason): others["left out: \(reason)", default: 0] += 1
      case .line(_, let fault?), .refused(let fault):
        refused += 1
        others["refused: \(fault)", default: 0] += 1
        if fault.hasPrefix(QuarantineReason.invalidRow.rawValue) { note("refused: \(fault)", trial.number) }
      }
      if records <= Self.shown { samples.append((trial.number, Self.words(outcome))) }
    }
    for warning in trial.warnings where warning.kind == LineWarning.shortRowKind {
      note("warning: \(warning.kind): \(warning.detail)", trial.number)
    }
    for record in trial.records {
      devices.insert(record.device)
      note(record.device, of: "deviceId")
      if let likely, !likely.contains(record.time) {
        let text = (map ?? .own).shownTime(of: trial.raw).map { " '\($0)'" } ?? ""
        let first = oddTimes ?? (0, trial.number, record.time, text)
        oddTimes = (first.count + 1, first.number, first.time, first.text)
      }
      span = min(span?.lowerBound ?? record.time, record.time)...max(span?.upperBound ?? record.time, record.time)
    }
    guard let map, raw.count < Self.compared else { return }
    raw.append(trial.raw)
    for member in map.unreadMembers(of: trial.raw, mapper) { unread[member, default: 0] += 1 }
  }

  private mutating func note(_ words: String, _ row: UInt64) {
    oddRows[words] = (1 + (oddRows[words]?.count ?? 0), oddRows[words]?.first ?? row)
  }

  /// Records of the project's own and all others.
  package var outcomes: Int { accepted + others.values.reduce(0, +) }

  /// Members that are not read, once for each record.
  var unreadCount: Int { unread.values.reduce(0, +) }

  /// Whose records they are, and of when, such as `3 devices, 2 people, 6,120 records, 2026-01-14 to 2026-01-15`.
  package var words: String {
    let days = span.map { ($0.lowerBound.rfc3339.prefix(10), $0.upperBound.rfc3339.prefix(10)) }
    let begin = isCut ? "the first \(records.counted("record")): " : ""
    return begin
      + [
        devices.count.counted("device"), people.count.counted("person", "people"), accepted.counted("record"),
        days.map { $0 == $1 ? "\($0)" : "\($0) to \($1)" },
      ].compactMap(\.self).joined(separator: ", ")
  }

  /// Fields that say who or when and have no value, in sentences.
  package var emptyKeys: [String] {
    empty.filter { Self.keys.contains($0.field) }.map { field, paths in
      "no record has a value for '\(field)', which is read from \(paths.prefix(5).map { "'\($0)'" }.joined(separator: ", "))"
        .printable
    }
  }

  /// What nothing reads, and what has no value.
  package var guardWords: [String] {
    func list(_ names: [String]) -> String {
      "\(names.prefix(20).joined(separator: ", "))\(names.count > 20 ? ", …" : "")".printable
    }
    let members = unread.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    let others = empty.map(\.field).filter { !Self.keys.contains($0) }
    return emptyKeys + (others.isEmpty ? [] : ["no record has a value for \(list(others))"])
      + (members.isEmpty ? [] : ["not read: \(list(members))"])
  }

  /// What became of those that are none, the commonest first.
  package var otherWords: [String] {
    let warnings = oddRows.filter { others[$0.key] == nil }.mapValues(\.count)
    let told = others.merging(warnings) { $1 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { words, count in
      "\(count) \(words)" + (oddRows[words].map { "; the first begins in line \($0.first)" } ?? "")
    }
    return told.count > Self.mostTold ? told.prefix(Self.mostTold) + ["…"] : told
  }

  /// Reasons that are told.
  private static let mostTold = 8
  private static let keys: Set = ["deviceId", "timestamp", "mobileUserId", "anonymousId", "recipientId", "userId"]

  private mutating func add(_ line: String) {
    // A link may be a line of text.
    guard let node = try? JSONNode.parse(Array(line.utf8)) else { return }
    hasMore = hasMore || Self.telling.contains { node[$0] != nil }
    let field = ["mobileUserId", "userId", "userID"].first { node[$0] != nil }
    if let field, let person = node[field]?.scalar, !person.isEmpty, !note(person, of: field) { people.insert(person) }
  }

  /// Whether an id names nobody, which counts.
  @discardableResult
  private mutating func note(_ id: String, of field: String) -> Bool {
    guard Array(id.utf8).withText({ $0.namesNobody }) else { return false }
    nobody[field] = (nobody[field]?.text ?? id, 1 + (nobody[field]?.count ?? 0))
    return true
  }

  private static func words(_ outcome: MapTrial.Outcome) -> String {
    switch outcome {
    case .line(let line, nil): "becomes \(line)"
    case .line(let line, let fault?): "refused \(line): \(fault)"
    case .leftOut(let reason): "left out: \(reason)"
    case .refused(let fault): "refused: \(fault)"
    }
  }
}
