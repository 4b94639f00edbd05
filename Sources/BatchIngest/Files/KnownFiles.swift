package import BatchFoundation

/// The files that earlier runs read to the end, accepting every line.
///
/// Folders of exports are read night after night, and all but the newest files have already been read. A checksum of a
/// file's bytes proves that at a tenth of the cost of reading its lines; the tag of a remote object proves it without
/// any reading. The file is then counted as if it had been read.
package struct KnownFiles: Sendable {
  /// The files by size, then by the first half of the proof, because many files may have the same size.
  private let files: [UInt64: [ArraySlice<UInt8>: KnownFile]]

  package init(_ files: [KnownFile]) {
    self.files = Dictionary(grouping: files, by: \.size).mapValues { files in
      Dictionary(files.map { ($0.proof.prefix(16), $0) }) { first, _ in first }
    }
  }

  /// Returns the known file with the same bytes as `file`, which is read for comparison only if a known file has the
  /// same size.
  ///
  /// - Parameters:
  ///   - options: the options of the run that would read the file.
  ///   - idle: called periodically; may throw to stop.
  /// - Returns: nil if the lines must be read, because the file is new or some of its lines would count differently
  ///   from others.
  /// - Throws: ``IngestFailure``, ``InputChanged``, or what `idle` throws.
  func find(_ file: InputFile, _ options: IngestOptions, idle: @escaping () throws -> Void) throws -> KnownFile? {
    guard file.mayBeKnown, let candidates = files[file.size],
      candidates.values.contains(where: { options.takes($0.span) != nil })
    else { return nil }
    let sum: Digest?
    if let remote = file.remote {
      sum = remote.contentSum
    } else {
      let reader = try FileReader(file, sums: true, idle: idle)
      try reader.readOnDisk()
      sum = reader.sumOfWhole
    }
    guard let content = sum.map({ KnownFile.content(of: file, $0, options) }), let known = candidates[content[...]],
      known.proof == known.proof(content), options.takes(known.span) != nil
    else { return nil }
    return known
  }
}

extension KnownFile {
  /// - Parameter sum: the checksum of the file's bytes on disk.
  init(_ file: InputFile, _ sum: Digest, lines: Int, span: ClosedRange<Instant>, _ options: IngestOptions) {
    self.init(size: file.size, lines: lines, span: span, proof: [])
    proof = proof(Self.content(of: file, sum, options))
  }

  /// Returns a checksum of the file's bytes and of everything else that affects how a line is read, except the window
  /// and forgotten people.
  fileprivate static func content(of file: InputFile, _ sum: Digest, _ options: IngestOptions) -> [UInt8] {
    Array(CopySum.hash("\(Hexadecimal.text(of: sum)) \(file.kind.name) \(file.isCompressed) \(options.maxLineBytes)"))
  }

  fileprivate func proof(_ content: [UInt8]) -> [UInt8] {
    let facts = "\(size) \(lines) \(span.lowerBound.milliseconds) \(span.upperBound.milliseconds)"
    return content + CopySum.hash("\(Hexadecimal.text(of: content)) \(facts)")
  }
}

extension InputFile {
  /// Whether a later run may recognize the file: its lines are read from it directly, not through a pipe, copy or map.
  var mayBeKnown: Bool { !isPipe && handedOver == nil && copied == nil && map == nil }
}

extension IngestOptions {
  /// Returns whether lines with times in this span are accepted; nil if only some are, or if the store may not know all
  /// of them.
  fileprivate func takes(_ span: ClosedRange<Instant>) -> Bool? {
    if let knownSince, span.lowerBound < knownSince { return nil }
    let (first, last) = (span.lowerBound, span.upperBound)
    if window.contains(first), window.contains(last) { return true }
    if let late, late.contains(first), late.contains(last) { return true }
    let isBeside = window.from.map { last < $0 } ?? false || window.to.map { first >= $0 } ?? false
    return isBeside && !(late?.overlaps(span) ?? false) ? false : nil
  }

  /// Returns the counts for the lines of a file that ``KnownFiles`` found.
  func counts(of file: KnownFile) -> IngestCounts {
    var counts = IngestCounts()
    counts.read = file.lines
    if takes(file.span) ?? true {
      counts.duplicates = file.lines
    } else {
      counts.addOutOfWindow(file.lines, file.span)
    }
    return counts
  }
}

struct FileTally: Sendable {
  /// The number of nonblank lines.
  var lines = 0
  /// The number of records that were accepted or are duplicates.
  private(set) var usable = 0
  /// The number of lines that became records; ``oldest`` and ``newest`` are the limits of their times.
  private var records = 0
  private var oldest = Int64.max
  private var newest = Int64.min
  /// Whether the file needs a report beyond the counts of its lines.
  var isRemarkable = false

  @inline(__always)
  mutating func addRecord(at milliseconds: Int64) {
    records += 1
    usable += 1
    oldest = min(oldest, milliseconds)
    newest = max(newest, milliseconds)
  }

  /// Adds all lines of a file that was not read again.
  mutating func add(_ known: IngestCounts) {
    lines += known.read
    usable += known.duplicates
  }

  /// The span of the records' times if every line is a record and nothing else needs a report; otherwise nil.
  var spanOfAll: ClosedRange<Instant>? {
    guard lines > 0, records == lines, !isRemarkable else { return nil }
    return Instant(milliseconds: oldest)...Instant(milliseconds: newest)
  }

  static func += (total: inout FileTally, part: FileTally) {
    total.lines += part.lines
    total.usable += part.usable
    total.records += part.records
    total.oldest = min(total.oldest, part.oldest)
    total.newest = max(total.newest, part.newest)
    total.isRemarkable = total.isRemarkable || part.isRemarkable
  }
}
