package import BatchFoundation

/// A mapping of foreign records to lines in the project's own format (reference formats 6).
///
/// The core reads files and splits lines; a map defines how the bytes of a file are split into foreign records, and
/// which lines each of them becomes. Everything after that, including digests and the search for duplicates, is based
/// on the lines that the map wrote.
package protocol RecordMap: Sendable {
  /// The name shown to users: the name of a preset or of a file.
  var name: String { get }

  /// Returns a cutter for one file; nil if each line is a record.
  ///
  /// - Parameters:
  ///   - path: the path of the file, which may have related files next to it.
  ///   - options: the run's options, which include the maximum record length and the folder for temporary files.
  func makeCutter(of path: FilePath, _ options: IngestOptions) -> (any RecordCutter)?

  /// Whether the map opens files itself; if so, they must be on disk.
  var opensFiles: Bool { get }

  /// The same map for files with one record per line, the format in which the quarantine keeps records.
  var ofKeptRecords: any RecordMap { get }

  func makeMapper() -> any RecordMapper

  /// Returns a description of a fault in a line that a rule of the map wrote. The description names members of the
  /// foreign record but shows none of their values.
  func detail(of rejection: Rejection, rule: Int, record: [UInt8]) -> String
}

/// Turns individual foreign records into lines, keeping its working memory from record to record.
package protocol RecordMapper: AnyObject {
  /// Appends the outcomes of a record: at least one, so that no record is lost.
  func map(_ record: UnsafeBufferPointer<UInt8>, into outcomes: inout MappedOutcomes)
}

/// The outcomes of a block's foreign records, in order.
package struct MappedOutcomes: ~Copyable {
  enum Outcome {
    case line(CanonicalLines.Line, rule: Int)
    /// A record that is only counted, with the reason.
    case leftOut(String)
    case refused(Rejection)
  }

  package var lines = CanonicalLines()

  package init() {}

  private(set) var outcomes: [Outcome] = []
  /// The warnings with the indices of their outcomes.
  private(set) var warnings: [(outcome: Int, warning: LineWarning)] = []

  /// The maximum number of lines from one foreign record; more cannot be numbered (reference formats 6.4).
  package static let mostOfOneRecord = Int(UInt16.max)

  package var count: Int { outcomes.count }

  /// Adds everything written since `start` as a line.
  ///
  /// - Parameter isToBeRead: whether the line may have faults that only parsing finds.
  package mutating func addLine(from start: CanonicalLines.Place, rule: Int, isToBeRead: Bool) {
    outcomes.append(.line(lines.line(from: start, isToBeRead: isToBeRead), rule: rule))
  }

  package var writingRules: Set<Int> {
    Set(outcomes.compactMap { if case .line(_, let rule) = $0 { rule } else { nil } })
  }

  /// Adds a warning to the next outcome.
  package mutating func warn(_ warning: LineWarning) { warnings.append((outcomes.count, warning)) }

  package mutating func leaveOut(_ reason: String) { outcomes.append(.leftOut(reason)) }

  package mutating func refuse(_ rejection: Rejection) { outcomes.append(.refused(rejection)) }

  /// Removes all outcomes after the first `count`, and all lines after `end`.
  mutating func truncate(to count: Int, _ end: CanonicalLines.Place) {
    outcomes.removeLast(outcomes.count - count)
    warnings.removeAll { $0.outcome >= count }
    lines.truncate(to: end)
  }

  mutating func removeAll() {
    outcomes.removeAll(keepingCapacity: true)
    warnings.removeAll(keepingCapacity: true)
    lines.removeAll()
  }
}

/// Splits the bytes of one file into foreign records. The bytes arrive in pieces that may end anywhere.
package protocol RecordCutter: AnyObject {
  /// Returns a message about a file's format and the way to read it, if the format is clearly not the expected one;
  /// otherwise nil.
  ///
  /// - Parameter head: the beginning of the file, without a byte order mark.
  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String?

  func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void)

  /// Ends the file; if damage truncated it, an incomplete record is dropped.
  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void)

  /// Whether ``finish(isDamaged:_:)`` has returned everything; otherwise call it again.
  var isDone: Bool { get }
}

extension RecordCutter {
  package var isDone: Bool { true }
}

/// A foreign record, or bytes that could not be one.
@safe package struct CutRecord {
  /// The bytes without separators; valid only during the call.
  package var bytes: UnsafeBufferPointer<UInt8>
  /// The line of a table's row or the number of a document; from 1, unique within the file.
  package var number: UInt64
  /// The offset of the record's first byte in the (inflated) file.
  package var offset: UInt64
  /// The fault; nil for a valid record.
  package var fault: QuarantineReason?
  package var detail: String
  package var warnings: [LineWarning] = []

  package init(
    bytes: UnsafeBufferPointer<UInt8>, number: UInt64, offset: UInt64, fault: QuarantineReason? = nil,
    detail: String = ""
  ) {
    unsafe self.bytes = unsafe bytes
    (self.number, self.offset, self.fault, self.detail) = (number, offset, fault, detail)
  }
}

package struct InputMap: Sendable, Equatable {
  package var map: any RecordMap
  /// A digest of the map's whole content; equal for equal maps.
  package var identity: String

  package init(_ map: any RecordMap, identity: String) {
    (self.map, self.identity) = (map, identity)
  }

  package static func == (one: InputMap, other: InputMap) -> Bool {
    one.identity.utf8.elementsEqual(other.identity.utf8)
  }
}

/// A warning about a foreign record that counts nevertheless (`docs/words.md`).
package struct LineWarning: Sendable, Equatable {
  package var kind: String
  /// The message, without values from the record.
  package var detail: String

  /// Whether the warning is about the whole file; if so, it is reported only at the first place.
  var isOfFile = false

  package static let shortRowKind = "short-row"

  package static func shortRow(fields: Int, of columns: Int) -> LineWarning {
    LineWarning(kind: shortRowKind, detail: "the row has \(fields) of \(columns) columns")
  }

  package static func rowsInField(_ lines: Int) -> LineWarning {
    LineWarning(
      kind: "rows-in-field",
      detail: "a field of the row has \(lines.counted("line that could be a row", "lines that could be rows")); "
        + #"if quotes have no special meaning in the table, write "quotes": "none" in the map"#)
  }

  /// A warning about a file, at the first affected row.
  package static let unreadEscape = LineWarning(
    kind: "unread-escape",
    detail:
      #"fields of the file contain '\t', '\n' or '\\', kept as written; write "escape": "\\" in the map if they are escapes, or "" if they are text"#,
    isOfFile: true)

  package static func notANumber(_ path: String, hasComma: Bool) -> LineWarning {
    LineWarning(
      kind: "not-a-number",
      detail: "'\(path)' is not a number and is kept as text"
        + (hasComma ? #"; for a decimal comma, write "decimal": "," in the map"# : ""))
  }
}

struct RecordWarning: Sendable {
  var line: UInt64
  /// The index of the line among those that a map made from the record; nil if the warning is about the record itself.
  var element: UInt16?
  var warning: LineWarning
}

extension [String: PlacedWarnings] {
  /// Adds the warnings of a foreign record that counts or, without a line, of the file; returns whether there are any.
  @discardableResult
  mutating func add(of line: BlockLine?, _ block: LineBlock, device: Text = .empty) -> Bool {
    if block.warnings.isEmpty { return false }
    let noted =
      line.map { line in
        block.warnings(of: line.number).filter { !$0.warning.isOfFile && ($0.element ?? 0) == line.element }
      } ?? block.warnings.filter(\.warning.isOfFile)
    for warning in noted {
      let position = RecordPosition(file: line?.file ?? block.file, line: warning.line, element: line?.element ?? 0)
      self[warning.warning.kind, default: PlacedWarnings()].add(at: position) {
        PlacedWarnings.Example(device: device.description, position: position, detail: warning.warning.detail)
      }
    }
    return !noted.isEmpty
  }
}
