package import BatchFoundation

/// The findings of a run's events, for its summary and report. Tallies of several workers add up to the same.
package struct FindingTally: Sendable {
  /// The occurrences of a finding in events of one name.
  package struct Row: Sendable, Equatable, Codable {
    package var count: Int
    package var example: Example
  }

  /// The place of a finding: the first of all by the bytes of the path, then of the event's id.
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

  /// The maximum number of rows: names of events come from users, so there may be any number.
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

  /// The rows by id, then by the bytes of the event's name.
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
    // The first rows of all are among the first of every part, so the rows that stay have counted everything.
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
