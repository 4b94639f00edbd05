package import BatchFoundation
package import BatchIngest

/// The result of reading the first records of an export as a run would.
package struct ExportTrial {
  /// The number of foreign records that were read.
  package private(set) var records = 0
  package private(set) var accepted = 0
  package private(set) var refused = 0
  /// The hashes of accepted lines, to compare trials in the same process.
  package private(set) var lines: Set<Int> = []
  /// The number of records left out or rejected, by reason.
  package private(set) var others: [String: Int] = [:]
  /// The number of rows with each fault or warning, and the number of the first such row.
  private var oddRows: [String: (count: Int, first: UInt64)] = [:]
  /// The members that no rule reads, with the number of records that have them.
  package private(set) var unread: [String: Int] = [:]
  /// The fields without a value in any record, with their paths.
  package private(set) var empty: [(field: String, paths: [String])] = []
  package private(set) var samples: [(number: UInt64, becomes: String)] = []
  /// Whether a line has more than device, person, time, type and name.
  package private(set) var hasMore = false
  /// The number of implausible times and, for the first one, the record's number, the time, and the time as written
  /// (empty if unknown). Nil if there are none.
  package private(set) var oddTimes: (count: Int, number: UInt64, time: Instant, text: String)?
  /// For each field, the first id that identifies nobody, and the number of such ids.
  package private(set) var nobody: [String: (text: String, count: Int)] = [:]
  /// Whether there may be more records than were read.
  private var isCut = false
  private var devices: Set<String> = []
  /// The devices of each person.
  private var people: [String: Set<String>] = [:]
  private var personPath = "mobileUserId"
  private var span: ClosedRange<Instant>?

  /// The fields that confirm that a preset fits; records that it does not fit may still have its device, person, time
  /// and name.
  private static let characteristic: [Text] = ["params", "payload", "recordId", "url", "eventUUID"]
  private static let people: [Text] = ["mobileUserId", "userId", "userID"]
  private static let shown = 3
  /// The maximum number of files to request again from a server.
  private static let mostRequested = 10
  /// The maximum number of records whose members are examined.
  private static let compared = 200

  /// - Parameters:
  ///   - files: files that all have the same map, or none.
  ///   - limit: the maximum number of foreign records, divided among the files.
  ///   - likely: the plausible times; nil if all times are plausible.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package init(
    of files: [InputFile], _ vocabulary: RecordVocabulary, limit: Int = MapProposal.recordLimit,
    likely: Range<Instant>? = nil
  ) throws {
    let map = files.first?.map?.map as? ForeignMap
    let mapper = map?.makeMapper()
    let parser = LineParser()
    personPath = map?.rules.lazy.compactMap { $0.fieldPaths["mobileUserId"]?.first?.text }.first ?? personPath
    var raw: [[UInt8]] = []
    let share = max(limit / max(1, files.count), MapProposal.recordLimit)
    for (number, file) in files.enumerated() where records < limit {
      if file.remote != nil, number >= Self.mostRequested {
        isCut = true
        break
      }
      let end = min(records + share, limit)
      try file.tryMap(vocabulary, limit: end - records) { add($0, map, mapper, parser, &raw, likely) }
      isCut = isCut || records >= end
    }
    empty = map?.emptyFields(of: raw) ?? []
  }

  private mutating func add(
    _ trial: MapTrial, _ map: ForeignMap?, _ mapper: (any RecordMapper)?, _ parser: LineParser,
    _ raw: inout [[UInt8]], _ likely: Range<Instant>?
  ) {
    records += 1
    for outcome in trial.outcomes {
      switch outcome {
      case .line(let line, nil):
        accepted += 1
        lines.insert(ByteText(line).hashValue)
        add(line, parser, besides: trial.ignored)
      case .leftOut(let reason): others["left out: \(reason)", default: 0] += 1
      case .line(_, let fault?), .refused(let fault):
        refused += 1
        others["rejected: \(fault)", default: 0] += 1
        if fault.hasPrefix(QuarantineReason.invalidRow.rawValue) { note("rejected: \(fault)", trial.number) }
      }
      if samples.count < Self.shown { samples.append((trial.number, Self.words(outcome))) }
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
    if (map ?? .own).name == ForeignMap.own.name { for name in trial.ignored { unread[name, default: 0] += 1 } }
    guard let map, raw.count < Self.compared else { return }
    raw.append(trial.raw)
    for member in map.unreadMembers(of: trial.raw, mapper) { unread[member, default: 0] += 1 }
  }

  private mutating func note(_ words: String, _ row: UInt64) {
    oddRows[words] = (1 + (oddRows[words]?.count ?? 0), oddRows[words]?.first ?? row)
  }

  package var outcomes: Int { accepted + others.values.reduce(0, +) }

  /// The total number of unread members in the examined records.
  var unreadCount: Int { unread.values.reduce(0, +) }

  /// The counts and days, as in `3 devices, 2 people, 6,120 records, 2026-01-14 to 2026-01-15`.
  package var words: String {
    let days = span.map { ($0.lowerBound.rfc3339.prefix(10), $0.upperBound.rfc3339.prefix(10)) }
    let begin = isCut ? "the first \(records.counted("record")): " : ""
    return begin
      + [
        devices.count.counted("device"), people.count.counted("person", "people"), accepted.counted("record"),
        days.map { $0 == $1 ? "\($0)" : "\($0) to \($1)" },
      ].compactMap(\.self).joined(separator: ", ")
  }

  /// Whether no record has attributes.
  package var lacksParams: Bool { empty.contains { $0.field == "params" } }

  /// Sentences about id and time fields that have no value in any record.
  package var emptyKeys: [String] {
    empty.filter { Self.keys.contains($0.field) }.map { field, paths in
      "no record has a value for '\(field)', which is read from \(paths.prefix(5).map { "'\($0)'" }.joined(separator: ", "))"
        .printable
    }
  }

  /// Sentences about fields that have no value in any record, and about unread members.
  package var guardWords: [String] {
    func list(_ names: [String]) -> String {
      "\(names.prefix(20).joined(separator: ", "))\(names.count > 20 ? ", …" : "")".printable
    }
    let members = unread.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    let others = empty.map(\.field).filter { !Self.keys.contains($0) }
    return emptyKeys + (others.isEmpty ? [] : ["no record has a value for \(list(others))"])
      + (members.isEmpty ? [] : ["not read: \(list(members))"])
      + (unreadPerson.map { ["nobody is identified, but '\($0)' looks like a user id".printable] } ?? [])
  }

  /// The unread member whose name is most like that of a person's id, if no record has one; otherwise nil.
  private var unreadPerson: String? {
    let points = unread.keys.compactMap { path in
      MapProposal.personNames[path.split(separator: ".").last?.lowercased().filter(\.isLetter) ?? ""].map {
        (-$0, path)
      }
    }
    return people.isEmpty ? points.min { $0 < $1 }?.1 : nil
  }

  /// The counts of rejected, left out and faulty records by reason, the highest first.
  package var otherWords: [String] {
    let warnings = oddRows.filter { others[$0.key] == nil }.mapValues(\.count)
    let lines = others.merging(warnings) { $1 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
      words, count in
      "\(count) \(words)" + (oddRows[words].map { "; the first begins on line \($0.first)" } ?? "")
    }
    return lines.count > Self.mostListed ? lines.prefix(Self.mostListed) + ["…"] : lines
  }

  private static let mostListed = 8
  private static let keys: Set = ["deviceId", "timestamp", "mobileUserId", "anonymousId", "recipientId", "userId"]

  /// - Parameter ignored: the fields that the platform ignores.
  private mutating func add(_ line: String, _ parser: LineParser, besides ignored: [String]) {
    // A link may be plain text, which is not parsed.
    parser.parse(Array(line.utf8)) { line in
      hasMore = hasMore || Self.characteristic.contains { line[$0] != nil }
      let fields = Self.people.filter { !ignored.contains($0.description) }
      guard let field = fields.first(where: { line[$0] != nil }), let id = line[field]?.scalarText, !id.isEmpty
      else {
        return
      }
      let person = id.description
      guard !note(person, of: field.description) else { return }
      people[person, default: []].formUnion(line[Text("deviceId")]?.scalarText.map { [$0.description] } ?? [])
    }
  }

  /// A sentence about a person id that occurs on at least half of the devices; nil if there is none.
  package var sharedPerson: String? {
    ExportColumns.shared(people, among: devices.count).map {
      "'\(personPath)' is \($0), so these devices would be treated as one person's: export an empty value when nobody is logged in"
    }
  }

  /// Counts an id if it identifies nobody; returns whether it does.
  @discardableResult
  private mutating func note(_ id: String, of field: String) -> Bool {
    guard Array(id.utf8).withText({ $0.namesNobody }) else { return false }
    nobody[field] = (nobody[field]?.text ?? id, 1 + (nobody[field]?.count ?? 0))
    return true
  }

  private static func words(_ outcome: MapTrial.Outcome) -> String {
    switch outcome {
    case .line(let line, nil): "becomes \(line)"
    case .line(let line, let fault?): "becomes \(line), which is rejected: \(fault)"
    case .leftOut(let reason): "left out: \(reason)"
    case .refused(let fault): "rejected: \(fault)"
    }
  }
}
