package import BatchFoundation
package import BatchReport

/// The findings of a run, for its end summary and its report.
package enum FindingReport {
  package static func figure(_ id: FindingID) -> String { "findings.\(id.rawValue)" }

  /// Returns the summary's line about findings; nil if nothing was found.
  package static func line(_ figures: [String: Int]) -> PlatformReport.Line? {
    let counts = FindingID.allCases.compactMap { id in
      figures[figure(id)].map { PlatformReport.Figure(id.rawValue, $0) }
    }
    guard !counts.isEmpty else { return nil }
    let found = counts.reduce(0) { $0 + $1.count }
    return .init("checks", "\(found.counted("finding")); 'engage-batch explain ID' explains each", counts: counts)
  }

  /// The maximum number of rows; a schema may have any number of names.
  private static let mostRows = 200

  package static func sections(
    _ tally: FindingTally, _ coverage: SchemaCoverage?, of schema: EventSchema?
  ) -> [ReportSection] {
    let unmet = schema.flatMap { coverage?.unmet(in: $0) } ?? []
    return [
      ReportSection(
        "findings", "Findings",
        columns: [
          "id": "finding", "event": "event", "count": "count", "path": "example path", "eventUUID": "example event id",
          "advice": "advice",
        ],
        rows: tally.rows.map { id, event, row in
          [
            .text(id), .text(event), .count(row.count), .text(String(decoding: row.example.path, as: UTF8.self)),
            .text(String(decoding: row.example.eventUUID, as: UTF8.self)),
            .text(FindingID(rawValue: id)?.advice ?? ""),
          ]
        }),
      ReportSection(
        "unmet", "In the schema but never seen", columns: ["name": "event or parameter"],
        rows: unmet.prefix(mostRows).map { [.text($0)] }),
    ]
  }
}

extension EventFinding {
  /// Returns a line of `--findings-out`, without a line ending: the event and its findings.
  package static func line(_ event: JSONNode, _ findings: [EventFinding]) -> [UInt8] {
    let list = findings.map { finding -> JSONNode in
      ["id": .text(finding.id.rawValue), "path": .text(String(decoding: finding.path, as: UTF8.self))]
    }
    return Array(event.adding(["findings": .array(list)]).compactText.utf8)
  }
}

/// The kinds of problems in an event. The raw value is the id in findings and reports (reference deltadna 6).
package enum FindingID: String, CaseIterable, Sendable, Codable {
  case badName
  case badTimestamp
  case emptyValue
  case formatMismatch
  case missingRequired
  case notInEnumeration
  case nullValue
  case reservedName
  case tooLarge
  case tooLong
  case unknownEvent
  case unknownParameter
  case unpublishedEvent
  case wrongType

  /// The advice for whoever sees the finding (`docs/words.md` has more).
  package var advice: String {
    switch self {
    case .badName: "rename it where it is recorded"
    case .badTimestamp: "write yyyy-MM-dd HH:mm:ss.SSS, in UTC"
    case .emptyValue: "leave it out, or set DeltaDNA.dropEmpty"
    case .formatMismatch: "fix the value, or the expression in the schema"
    case .missingRequired: "record it"
    case .notInEnumeration: "fix the value, or add it to the schema; currencies are ISO 4217 codes"
    case .nullValue: "leave it out"
    case .reservedName: "rename it: the event has a member of that name next to eventParams"
    case .tooLarge: "shorten the event, or raise DeltaDNA.maxBytesPerRequest"
    case .tooLong: "shorten the value, or raise maxLength in the schema"
    case .unknownEvent: "add it to the schema and the environment, or stop recording it"
    case .unknownParameter: "add it to the event in the schema, or stop recording it"
    case .unpublishedEvent: "publish it, or send it to the DEV environment"
    case .wrongType: "fix the exporter; values are not converted"
    }
  }
}

/// A problem in an event, and its place.
package struct EventFinding: Equatable, Sendable {
  package var id: FindingID
  /// A JSON Pointer (RFC 6901) into the event, as UTF-8; empty for the whole event.
  package var path: [UInt8]

  /// Returns whether a finding is listed before another. Findings are sorted by the bytes of the path, then of the id.
  package static func precedes(_ one: EventFinding, _ other: EventFinding) -> Bool {
    guard one.path == other.path else { return one.path.lexicographicallyPrecedes(other.path) }
    return one.id.rawValue.utf8.lexicographicallyPrecedes(other.id.rawValue.utf8)
  }
}

/// The findings of a run's events, for its summary and report. The sum of several workers' tallies equals the tally of
/// a single worker.
package struct FindingTally: Sendable {
  /// The occurrences of a finding in events of one name.
  package struct Row: Sendable, Equatable, Codable {
    package var count: Int
    package var example: Example
  }

  /// The first occurrence of a finding, by the bytes of the path, then of the event's id.
  package struct Example: Sendable, Equatable, Comparable, Codable {
    package var path: [UInt8]
    package var eventUUID: [UInt8]

    package static func < (one: Example, other: Example) -> Bool {
      one.path != other.path
        ? one.path.lexicographicallyPrecedes(other.path) : one.eventUUID.lexicographicallyPrecedes(other.eventUUID)
    }
  }

  private struct Key: Sendable, Hashable, Comparable {
    var id: String
    var event: ByteText

    static func < (one: Key, other: Key) -> Bool {
      one.id != other.id ? one.id < other.id : one.event < other.event
    }
  }

  /// The maximum number of rows; users choose event names, so there may be any number of them.
  private static let mostRows = 200

  private var rowsByKey: [Key: Row] = [:]

  package init() {}

  package mutating func add(_ findings: [EventFinding], ofEvent name: Text, eventUUID: Text) {
    let event = ByteText(name.description)
    let id = unsafe Array(eventUUID.bytes)
    for finding in findings {
      add(
        Row(count: 1, example: Example(path: finding.path, eventUUID: id)),
        Key(id: finding.id.rawValue, event: event))
    }
  }

  package mutating func add(_ other: FindingTally) {
    for (key, row) in other.rowsByKey { add(row, key) }
  }

  /// The rows, sorted by id, then by the bytes of the event's name.
  package var rows: [(id: String, event: String, row: Row)] {
    rowsByKey.sorted { $0.key < $1.key }.map { ($0.key.id, $0.key.event.string, $0.value) }
  }

  private mutating func add(_ row: Row, _ key: Key) {
    if var known = rowsByKey[key] {
      known.count += row.count
      known.example = min(known.example, row.example)
      rowsByKey[key] = known
      return
    }
    rowsByKey[key] = row
    // A row that is among the first of all workers' rows is among the first of each worker's, so the remaining rows
    // have complete counts.
    guard rowsByKey.count > Self.mostRows, let last = rowsByKey.keys.max() else { return }
    rowsByKey[last] = nil
  }
}

/// Encodes the rows as an ordered list, so that equal tallies have equal bytes.
extension FindingTally: Codable {
  private struct Line: Codable {
    var id: String
    var event: String
    var row: Row
  }

  package init(from decoder: any Decoder) throws {
    for line in try [Line](from: decoder) { rowsByKey[Key(id: line.id, event: ByteText(line.event))] = line.row }
  }

  package func encode(to encoder: any Encoder) throws {
    try rows.map { Line(id: $0.id, event: $0.event, row: $0.row) }.encode(to: encoder)
  }
}
