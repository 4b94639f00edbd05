package import BatchFoundation
import Glibc

/// How a run reads; none of it but the window, the longest line and who was forgotten changes what comes out.
package struct IngestOptions: Sendable {
  package var window: TimeWindow
  /// Records that count although they are before the window: those that a rewind decides (reference decisions 34).
  package var late: Range<Instant>?
  /// Times out of the window of which lines are noted (``PastLine``); nil where nobody asks.
  package var past: Range<Instant>?
  /// `Ingest.maxLineBytes`: longer lines go to quarantine.
  package var maxLineBytes: Int
  /// `Ingest.memoryLimit`: bytes for records and buffers; records beyond it wait in a temporary file.
  package var memoryLimit: Int
  /// `Ingest.workers`: threads that read, and later hand partitions over; at least one.
  package var workers: Int
  /// Bytes of whole lines that a worker takes at a time.
  package var blockBytes = 1 << 20
  /// Inputs up to this many bytes are read and handed over by one thread.
  package var smallInput: UInt64 = 0
  /// Where the temporary file is made.
  package var temporaryFolder: String
  /// Whether somebody with this id was forgotten, so that records with it are refused; nil where nobody was.
  package var isForgotten: (@Sendable (PersonID.Kind, Text) -> Bool)?
  /// What somebody may be named by in lines that are no records.
  package var personKinds: [PersonID.Kind] = []
  /// Lines before it are out of the window, because nobody knows any more which of them were taken; nil where all are known.
  package var knownSince: Instant?
  /// Files that are not read again; nil where each is read, and the run does not tell which it took all lines of.
  package var knownFiles: KnownFiles?

  package init(
    window: TimeWindow = TimeWindow(), maxLineBytes: Int, memoryLimit: Int, workers: Int,
    temporaryFolder: String = IngestOptions.systemTemporaryFolder
  ) {
    self.window = window
    self.maxLineBytes = maxLineBytes
    self.memoryLimit = memoryLimit
    self.workers = workers
    self.temporaryFolder = temporaryFolder
  }

  /// `TMPDIR`, or `/tmp` where it is not set.
  package static var systemTemporaryFolder: String {
    guard let value = unsafe getenv("TMPDIR"), unsafe value.pointee != 0 else { return "/tmp" }
    return unsafe String(cString: value)
  }
}

/// What became of the lines: `read` = `accepted` + `duplicates` + `outOfWindow` + `forgotten` + `leftOut` + `quarantined`, always.
package struct IngestCounts: Sendable, Equatable {
  /// Lines that are not blank, and one for each damaged file.
  package var read = 0
  package var accepted = 0
  package var duplicates = 0
  package var outOfWindow = 0
  /// The times of those out of the window; nil for none.
  package var outOfWindowSpan: ClosedRange<Instant>?
  /// Of those out of the window, the ones before ``IngestOptions/knownSince`` alone.
  package var beforeKnown = 0
  /// Records of people who were forgotten (reference decisions 50).
  package var forgotten = 0
  package var quarantined = 0
  package var reasons: [QuarantineReason: Int] = [:]
  /// What maps left out, by reason.
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
  /// Lines out of the window, of the times of ``IngestOptions/past``.
  package var past: [PastLine] = []
  /// By the bytes of the name.
  package var unknownFields: [UnknownField] = []
  /// Files all of whose lines were taken, by their number; none without ``IngestOptions/knownFiles``.
  package var knownFiles: [Int: KnownFile] = [:]
  /// By kind, about foreign records that count.
  package var warnings: [String: PlacedWarnings] = [:]
  /// Bytes that did not fit into memory and went through the temporary file.
  package var spilledBytes: UInt64 = 0
}

/// How far a run is; given out after every block and every partition.
package struct IngestProgress: Sendable, Equatable {
  package enum Stage: Sendable { case reading, ordering }

  package var stage: Stage
  /// Bytes taken from the disk, compressed or not, of ``InputFiles/totalSize``.
  package var bytesRead: UInt64
  /// Lines read so far; while ordering, records handed over.
  package var records: Int
  /// While ordering, records that are to be handed over.
  package var total = 0
}
