package import BatchFoundation
import Glibc

/// The options for reading. Memory limits, thread counts and block sizes do not affect the result.
package struct IngestOptions: Sendable {
  package var window: TimeWindow
  /// The times before the window whose records still count, because a rewind processes them (reference decisions 34).
  package var late: Range<Instant>?
  /// The times outside the window whose lines are recorded (``PastLine``); nil if not requested.
  package var past: Range<Instant>?
  /// `Ingest.maxLineBytes`: longer lines are quarantined.
  package var maxLineBytes: Int
  /// `Ingest.memoryLimit`: the maximum number of bytes for records and buffers; further records go to a temporary file.
  package var memoryLimit: Int
  /// `Ingest.workers`: the number of threads that read lines and later pass partitions on; at least one.
  package var workers: Int
  /// The number of bytes of whole lines that a worker takes at a time.
  package var blockBytes = 1 << 20
  /// Inputs up to this many bytes are read and passed on by one thread.
  package var smallInput: UInt64 = 0
  package var temporaryFolder: String
  /// Returns whether the person with this id was forgotten, so that records with the id are refused; nil if nobody was
  /// forgotten.
  package var isForgotten: (@Sendable (PersonID.Kind, Text) -> Bool)?
  /// The kinds of ids that may name a person in lines that are not records.
  package var personKinds: [PersonID.Kind] = []
  /// The instant before which lines are out of the window, because the store may not know which of them were accepted;
  /// nil if the store knows all accepted lines.
  package var knownSince: Instant?
  /// The files that need not be read again; nil to read every file without reporting which files were accepted
  /// completely.
  package var knownFiles: KnownFiles?

  package init(
    window: TimeWindow = TimeWindow(), maxLineBytes: Int, memoryLimit: Int, workers: Int,
    temporaryFolder: String = IngestOptions.systemTemporaryFolder
  ) {
    (self.window, self.maxLineBytes, self.memoryLimit) = (window, maxLineBytes, memoryLimit)
    (self.workers, self.temporaryFolder) = (workers, temporaryFolder)
  }

  /// `TMPDIR`, or `/tmp` if it is unset or empty.
  package static var systemTemporaryFolder: String {
    guard let value = unsafe getenv("TMPDIR"), unsafe value.pointee != 0 else { return "/tmp" }
    return unsafe String(cString: value)
  }
}

/// The counts of lines by outcome. `read` always equals `accepted` + `duplicates` + `outOfWindow` + `forgotten` +
/// `leftOut` + `quarantined`.
package struct IngestCounts: Sendable, Equatable {
  /// The number of nonblank lines, plus one for each file that is damaged or in another format.
  package var read = 0
  package var accepted = 0
  package var duplicates = 0
  package var outOfWindow = 0
  /// The time span of the lines that are out of the window; nil if there are none.
  package var outOfWindowSpan: ClosedRange<Instant>?
  /// The number of lines that are out of the window only because they are before ``IngestOptions/knownSince``.
  package var beforeKnown = 0
  /// The number of records of people who were forgotten (reference decisions 50).
  package var forgotten = 0
  package var quarantined = 0
  package var reasons: [QuarantineReason: Int] = [:]
  /// The number of records that maps left out, by reason.
  package var leftOut: [String: Int] = [:]

  package init() {}

  package static func += (total: inout IngestCounts, part: IngestCounts) {
    total.read += part.read
    total.accepted += part.accepted
    total.duplicates += part.duplicates
    total.addOutOfWindow(part.outOfWindow, part.outOfWindowSpan)
    total.beforeKnown += part.beforeKnown
    total.forgotten += part.forgotten
    total.quarantined += part.quarantined
    total.reasons.merge(part.reasons, uniquingKeysWith: +)
    total.leftOut.merge(part.leftOut, uniquingKeysWith: +)
  }

  mutating func addOutOfWindow(_ count: Int, _ span: ClosedRange<Instant>?) {
    outOfWindow += count
    guard let span else { return }
    outOfWindowSpan =
      outOfWindowSpan.map {
        min($0.lowerBound, span.lowerBound)...max($0.upperBound, span.upperBound)
      } ?? span
  }
}

package struct IngestResult: Sendable, Equatable {
  package var counts = IngestCounts()
  /// Lines that are out of the window, with times in ``IngestOptions/past``.
  package var past: [PastLine] = []
  /// The unknown fields of records, sorted by the bytes of their names.
  package var unknownFields: [UnknownField] = []
  /// The files whose lines were all accepted, by number; empty if ``IngestOptions/knownFiles`` is nil.
  package var knownFiles: [Int: KnownFile] = [:]
  /// Warnings about foreign records and their files, by kind.
  package var warnings: [String: PlacedWarnings] = [:]
  /// The number of bytes that did not fit into memory and went through the temporary file.
  package var spilledBytes: UInt64 = 0
}

/// The progress of a run, reported after every block and every partition.
package struct IngestProgress: Sendable, Equatable {
  package enum Stage: Sendable { case reading, ordering }

  package var stage: Stage
  /// The number of bytes read from the disk, compressed or not, out of ``InputFiles/totalSize``.
  package var bytesRead: UInt64
  /// The number of files read to their end.
  package var filesRead = 0
  /// The number of files to read; 0 for a part.
  package var files = 0
  /// The number of lines read or, while ordering, the number of records passed on.
  package var records: Int
  /// While ordering, the number of records to pass on.
  package var total = 0
}
