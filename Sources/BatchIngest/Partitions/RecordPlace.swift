import BatchFoundation

/// The unique place of a record among all records of its device (reference formats 3.8).
struct RecordPlace: Comparable {
  /// The time in milliseconds since 1970.
  var timestamp: Int64
  var kind: InputKind
  var file: UInt32
  var line: UInt64
  /// The number among the records that a map made of the line.
  var element: UInt16 = 0

  static let first = RecordPlace(timestamp: .min, kind: .events, file: 0, line: 0)
  static let end = RecordPlace(timestamp: .max, kind: .events, file: 0, line: 0)

  @inline(__always)
  static func < (one: RecordPlace, other: RecordPlace) -> Bool {
    one.timestamp != other.timestamp ? one.timestamp < other.timestamp : precedesInTie(one, other)
  }

  private static func precedesInTie(_ one: RecordPlace, _ other: RecordPlace) -> Bool {
    if one.kind != other.kind { return one.kind < other.kind }
    if one.file != other.file { return one.file < other.file }
    return one.line != other.line ? one.line < other.line : one.element < other.element
  }
}

extension PackedHead {
  @inline(__always)
  var place: RecordPlace {
    RecordPlace(timestamp: timestamp, kind: kind, file: file, line: line, element: element)
  }
}

/// The first and the last place of some records, and the place added last.
struct PlaceSpan {
  private(set) var first = RecordPlace.end
  private(set) var last = RecordPlace.first
  private(set) var newest = RecordPlace.first

  @inline(__always)
  mutating func add(_ place: RecordPlace) {
    if place < first { first = place }
    if last < place { last = place }
    newest = place
  }

  func overlaps(_ range: Range<RecordPlace>) -> Bool { first < range.upperBound && range.lowerBound <= last }
}
