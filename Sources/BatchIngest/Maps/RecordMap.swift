package import BatchFoundation

/// What turns foreign records into lines of the project's own shape (reference formats 6).
///
/// The core reads files and cuts lines; a map says how the bytes of a file become foreign records, and what each of them becomes.
/// All that comes after, digests and duplicates included, sees the lines that the map wrote.
package protocol RecordMap: Sendable {
  /// What people call it: the name of a preset, or a file.
  var name: String { get }

  /// A cutter for one file; nil where each line is a record.
  ///
  /// - Parameters:
  ///   - path: of the file, beside which there may be more of it.
  ///   - options: of the run: bytes of a record beyond which it is refused, and where temporary files are made.
  func makeCutter(of path: FilePath, _ options: IngestOptions) -> (any RecordCutter)?

  /// The same map of records that stand alone, a line each, as the quarantine keeps them.
  var ofKeptRecords: any RecordMap { get }

  /// A mapper for the records of one thread.
  func makeMapper() -> any RecordMapper

  /// What is wrong with a line that the map wrote, in words that name the members of the foreign record and hold no values.
  ///
  /// - Parameters:
  ///   - rejection: of the line.
  ///   - rule: the one that wrote it.
  ///   - record: the foreign record.
  func detail(of rejection: Rejection, rule: Int, record: [UInt8]) -> String
}

/// Turns single foreign records into lines; keeps its working memory from record to record.
package protocol RecordMapper: AnyObject {
  /// Appends what becomes of a record: at least one outcome for each, so that none is lost.
  func map(_ record: UnsafeBufferPointer<UInt8>, into outcomes: inout MappedOutcomes)
}

/// What became of the foreign records of a block, in their order.
package struct MappedOutcomes: ~Copyable {
  enum Outcome {
    /// A line of the project's own shape.
    case line(CanonicalLines.Line, rule: Int)
    /// Counted by its reason, and nothing else.
    case leftOut(String)
    case refused(Rejection)
  }

  package var lines = CanonicalLines()

  package init() {}

  private(set) var outcomes: [Outcome] = []
  /// With the numbers of their outcomes.
  private(set) var warnings: [(outcome: Int, warning: LineWarning)] = []

  /// More lines of one foreign record have no place among the others (reference formats 6.4).
  package static let mostOfOneRecord = Int(UInt16.max)

  package var count: Int { outcomes.count }

  /// Takes all that was written since `start` as a line.
  ///
  /// - Parameter isToBeRead: whether it may have faults that only reading finds.
  package mutating func addLine(from start: CanonicalLines.Place, rule: Int, isToBeRead: Bool) {
    outcomes.append(.line(lines.line(from: start, isToBeRead: isToBeRead), rule: rule))
  }

  /// Those that wrote lines.
  package var writingRules: Set<Int> {
    Set(outcomes.compactMap { if case .line(_, let rule) = $0 { rule } else { nil } })
  }

  /// Says something of the outcome that comes next.
  package mutating func warn(_ warning: LineWarning) { warnings.append((outcomes.count, warning)) }

  package mutating func leaveOut(_ reason: String) { outcomes.append(.leftOut(reason)) }

  package mutating func refuse(_ rejection: Rejection) { outcomes.append(.refused(rejection)) }

  /// Takes everything back that came behind `count` outcomes and the end of their lines.
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

/// Cuts the bytes of one file, which come in pieces that may end anywhere, into foreign records.
package protocol RecordCutter: AnyObject {
  /// What a file is that is plainly not of the form that is cut, and what reads it; nil for one that may be.
  ///
  /// - Parameter head: the beginning of the file, without a byte order mark.
  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String?

  func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void)

  /// The end of the file; where damage cut it, what is not whole is dropped.
  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void)

  /// Whether ``finish(isDamaged:_:)`` gave all there is; else it gives more when it is called again.
  var isDone: Bool { get }
}

extension RecordCutter {
  package var isDone: Bool { true }
}

/// A foreign record, or what could not be one.
@safe package struct CutRecord {
  /// Without what separates records; valid during the call.
  package var bytes: UnsafeBufferPointer<UInt8>
  /// The line of a table's row, the number of a document; from 1, never the same twice.
  package var number: UInt64
  /// Of its first byte in the (inflated) file.
  package var offset: UInt64
  /// Why it is no record; nil for one.
  package var fault: QuarantineReason?
  /// About the fault.
  package var detail: String
  /// Of a record.
  package var warnings: [LineWarning] = []

  package init(
    bytes: UnsafeBufferPointer<UInt8>, number: UInt64, offset: UInt64, fault: QuarantineReason? = nil,
    detail: String = ""
  ) {
    unsafe self.bytes = unsafe bytes
    self.number = number
    self.offset = offset
    self.fault = fault
    self.detail = detail
  }
}

/// The map of an input file; equal if it is the same one.
package struct InputMap: Sendable, Equatable {
  package var map: any RecordMap
  /// Equal for equal maps: a digest of all that it says.
  package var identity: String

  package init(_ map: any RecordMap, identity: String) {
    self.map = map
    self.identity = identity
  }

  package static func == (one: InputMap, other: InputMap) -> Bool {
    one.identity.utf8.elementsEqual(other.identity.utf8)
  }
}
