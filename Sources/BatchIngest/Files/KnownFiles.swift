package import BatchFoundation

/// The files that earlier runs read to their end and took all lines of.
///
/// Folders of exports are read night after night, and all but the newest files were read before. Those are proved by the sum of their
/// bytes, which costs a tenth of what their lines cost, and counted as if they had been read.
package struct KnownFiles: Sendable {
  /// Ascending by size.
  private let files: [KnownFile]

  package init(_ files: [KnownFile]) { self.files = files.sorted { $0.size < $1.size } }

  /// Finds the file of the same bytes; one of another size is not read for that.
  ///
  /// - Parameters:
  ///   - options: of the run that would read it.
  ///   - idle: called now and then; throws to stop.
  /// - Returns: nil for a file whose lines have to be read: it is new, or some would count otherwise than others.
  /// - Throws: ``IngestFailure``, ``InputChanged``, or what `idle` throws.
  func find(_ file: InputFile, _ options: IngestOptions, idle: @escaping () throws -> Void) throws -> KnownFile? {
    guard file.mayBeKnown else { return nil }
    let candidates = files[files.place { $0.size < file.size }...].prefix { $0.size == file.size }
      .filter { options.takes($0.span) != nil }
    guard !candidates.isEmpty else { return nil }
    let reader = try FileReader(file, sums: true, idle: idle)
    try reader.readForSum()
    guard let sum = reader.sumOfWhole else { return nil }
    return candidates.first { $0.proof == $0.proof(of: file, sum, options) }
  }
}

extension KnownFile {
  /// - Parameters:
  ///   - sum: of its bytes on disk.
  ///   - options: of the run that read it.
  init(_ file: InputFile, _ sum: Digest, lines: Int, span: ClosedRange<Instant>, _ options: IngestOptions) {
    self.init(size: file.size, lines: lines, span: span, proof: [])
    proof = proof(of: file, sum, options)
  }

  fileprivate func proof(of file: InputFile, _ sum: Digest, _ options: IngestOptions) -> [UInt8] {
    let facts = "\(size) \(lines) \(span.lowerBound.milliseconds) \(span.upperBound.milliseconds)"
    // What else changes what comes of a line, apart from the window and who was forgotten.
    let reading = "\(file.kind.name) \(file.isCompressed) \(options.maxLineBytes)"
    return Array(CopySum.hash("\(Hexadecimal.text(of: sum)) \(facts) \(reading)"))
  }
}

extension InputFile {
  /// Whether it is one that the next run may find as it is, and that lines are read from as they stand.
  var mayBeKnown: Bool { !isPipe && handedOver == nil && copied == nil && map == nil }
}

extension IngestOptions {
  /// Whether lines of these times are taken; nil where some are and others are not, or where nobody knows which were.
  fileprivate func takes(_ span: ClosedRange<Instant>) -> Bool? {
    if let knownSince, span.lowerBound < knownSince { return nil }
    let (first, last) = (span.lowerBound, span.upperBound)
    if window.contains(first), window.contains(last) { return true }
    if let late, late.contains(first), late.contains(last) { return true }
    let isBeside = window.from.map { last < $0 } ?? false || window.to.map { first >= $0 } ?? false
    return isBeside && !(late?.overlaps(span) ?? false) ? false : nil
  }

  /// What becomes of the lines of a file that ``KnownFiles`` found.
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

/// What a run met of a file.
struct FileTally: Sendable {
  /// Those that are not blank.
  var lines = 0
  /// Records that are accepted or duplicates.
  private(set) var usable = 0
  /// Those that became records, and their times.
  private var records = 0
  private var oldest = Int64.max
  private var newest = Int64.min
  /// Whether something is to be told of the file that its lines do not tell by their number.
  var isRemarkable = false

  @inline(__always)
  mutating func addRecord(at milliseconds: Int64) {
    records += 1
    usable += 1
    oldest = min(oldest, milliseconds)
    newest = max(newest, milliseconds)
  }

  /// All lines of a file that was not read again.
  mutating func add(_ known: IngestCounts) {
    lines += known.read
    usable += known.duplicates
  }

  /// The times of its records, where every line is one and nothing else is to be told.
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
