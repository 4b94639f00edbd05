import BatchFoundation

/// The bytes of one input file, inflated if it is compressed.
final class FileReader {
  let file: InputFile
  private let open: OpenFile
  /// The reader of a file at an address; nil for a file on disk.
  private let remote: (any RemoteReader)?
  private var gzip: GzipSource?
  /// The number of bytes read from the disk so far.
  private(set) var bytesRead: UInt64 = 0
  private(set) var fault: GzipFault?
  private let sums: Bool
  /// The checksum of the bytes on disk; nil for an address, or if not requested.
  private var sum: CopySum?
  private let idle: () throws -> Void

  /// - Parameters:
  ///   - sums: whether ``sumOfWhole`` is needed.
  ///   - remote: the reader of a file at an address, if it has requested the file; otherwise one is made.
  ///   - idle: called a few times a second while a pipe has nothing to read; may throw to stop.
  /// - Throws: ``IngestFailure`` if the file can no longer be opened, ``InputChanged`` if it is no longer a file.
  init(
    _ file: InputFile, sums: Bool = false, remote: (any RemoteReader)? = nil,
    idle: @escaping () throws -> Void = {}
  ) throws {
    (self.file, self.sums) = (file, sums)
    sum = sums && file.remote == nil ? CopySum() : nil
    self.remote = remote ?? file.remote.map { $0.storage.reader(of: $0) }
    self.idle = idle
    if self.remote != nil {
      open = OpenFile()
      gzip = file.isCompressed ? try GzipSource() : nil
      return
    }
    do {
      open = try file.handedOver == nil ? OpenFile(file.path) : OpenFile(.standardInput, continues: true)
    } catch {
      throw IngestFailure(operation: "open", path: file.path.description, code: error.code)
    }
    // It was a file or a pipe when it was found. A FIFO without a writer would read as an empty file.
    guard file.handedOver != nil || open.status.kind == (file.isPipe ? .pipe : .file) else {
      throw InputChanged(path: file.path.description, change: .isNoFile)
    }
    gzip = file.isCompressed ? try GzipSource() : nil
  }

  /// Reads bytes into `buffer` and returns their number; 0 at the end of the file or where damage begins.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if gzip != nil { return try unsafe inflate(into: buffer) }
    return try unsafe readDisk(into: buffer)
  }

  /// Checks that a handed-over file arrived in full, including the part after any damage.
  ///
  /// - Throws: ``CommandError`` if it did not; ``IngestFailure`` if reading fails.
  func proveWhole(lines: @autoclosure () -> UInt64) throws {
    guard let listed = file.handedOver else { return }
    if let bytes = listed.bytes {
      try readOnDisk()
      try prove("bytes", bytesRead, bytes)
    }
    if let wanted = listed.lines { try prove("lines", lines() - listed.linesBefore, wanted) }
  }

  /// The checksum of the bytes on disk, or of a remote file's tag; nil if not requested, if the bytes are damaged,
  /// or if their number has changed since the file was found.
  var sumOfWhole: Digest? {
    guard sums, fault == nil, bytesRead == file.size else { return nil }
    return file.remote.map(\.contentSum) ?? sum?.finalize()
  }

  /// Reads the rest of the bytes on disk without inflating, so that ``bytesRead`` and ``sumOfWhole`` cover all bytes.
  func readOnDisk() throws {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { unsafe piece.deallocate() }
    while try unsafe readDisk(into: piece) > 0 { try idle() }
  }

  /// - Parameter unit: `bytes` or `lines`.
  private func prove(_ unit: String, _ came: UInt64, _ listed: UInt64) throws {
    guard came == listed else {
      throw CommandError(
        .inputOutput,
        "\(file.path.description.printable): error: \(came) \(came == 1 ? String(unit.dropLast()) : unit) arrived, but \(listed) "
          + "\(listed == 1 ? "is" : "are") listed, so the file was truncated or changed; nothing was kept. "
          + "Deliver the file again")
    }
  }

  private func readDisk(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if let remote { return try unsafe readRemote(remote, into: buffer) }
    if file.isPipe || file.handedOver != nil { return try unsafe readPipe(into: buffer) }
    do {
      let count = try unsafe open.read(into: buffer)
      bytesRead += UInt64(count)
      unsafe sum?.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      if count == 0, bytesRead < file.size {
        throw InputChanged(path: file.path.description, change: .isShorter(read: bytesRead, of: file.size))
      }
      return count
    } catch let error as SystemError {
      throw IngestFailure(operation: "read", path: file.path.description, code: error.code)
    }
  }

  private func readRemote(_ remote: any RemoteReader, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = try unsafe remote.read(into: buffer, idle: idle)
    if bytesRead == 0 { try unsafe refuseBinary(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
    bytesRead += UInt64(count)
    return count
  }

  private func refuseBinary(_ start: UnsafeRawBufferPointer) throws {
    if let form = unsafe FileForm(start, isCompressed: file.isCompressed) {
      throw InputError.foreign(path: file.path.description, form)
    }
  }

  /// Reads the available bytes of a pipe; at its start, waits for enough bytes to recognize the format.
  private func readPipe(into whole: UnsafeMutableRawBufferPointer) throws -> Int {
    var buffer = unsafe whole
    if let length = file.handedOver, length.isFollowed, let bytes = length.bytes {
      guard bytesRead < bytes else { return 0 }
      unsafe buffer = UnsafeMutableRawBufferPointer(
        rebasing: whole[..<min(whole.count, Int(clamping: bytes - bytesRead))])
    }
    var count = 0
    do {
      repeat {
        try open.wait(idle)
        let more = try unsafe open.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
        count += more
        if more == 0 { break }
      } while bytesRead == 0 && count < min(FileForm.markBytes, buffer.count)
    } catch let error as SystemError {
      throw IngestFailure(operation: "read", path: file.path.description, code: error.code)
    }
    if bytesRead == 0, file.handedOver?.bytesBefore ?? 0 == 0 {
      try unsafe refuseBinary(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    bytesRead += UInt64(count)
    return count
  }

  private func inflate(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while fault == nil {
      guard let gzip else { return 0 }
      if gzip.at == gzip.count, !gzip.atEnd {
        let count = try unsafe readDisk(into: gzip.buffer)
        self.gzip?.refill(count)
      }
      let (produced, found, done) = unsafe self.gzip?.step(into: buffer) ?? (0, nil, true)
      fault = found
      if produced > 0 { return produced }
      if done { return 0 }
    }
    return 0
  }
}

/// A compressed file's current input buffer and the state of its stream.
@safe private final class GzipSource {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
  private var inflater: Inflater
  private(set) var at = 0
  private(set) var count = 0
  private(set) var atEnd = false

  init() throws { inflater = try Inflater() }

  deinit { unsafe buffer.deallocate() }

  func refill(_ count: Int) {
    at = 0
    self.count = count
    atEnd = count == 0
  }

  func step(into output: UnsafeMutableRawBufferPointer) -> (produced: Int, fault: GzipFault?, done: Bool) {
    let step = unsafe inflater.inflate(UnsafeRawBufferPointer(rebasing: buffer[at..<count]), into: output)
    at += step.consumed
    if let fault = step.fault { return (step.produced, fault, true) }
    guard atEnd, step.produced == 0 else { return (step.produced, nil, false) }
    return (0, inflater.faultAtEnd, true)
  }
}

/// The binary format that a file's first bytes indicate. Read as lines, such a file would be one or more bad lines.
package enum FileForm: Sendable, Equatable, CaseIterable {
  case parquet, avro, zstandard, bzip2, xz, zip, workbook

  /// The number of leading bytes that suffice to recognize every format.
  static let markBytes = 38

  /// Returns nil for bytes that may be text.
  ///
  /// - Parameters:
  ///   - start: the first ``markBytes`` bytes, or fewer if the file is shorter.
  ///   - isCompressed: whether the file's name indicates gzip; any other content is then damage (reference formats
  ///     1.2).
  init?(_ start: UnsafeRawBufferPointer, isCompressed: Bool) {
    guard !isCompressed, let form = Self.allCases.first(where: { unsafe start.starts(with: $0.mark) }) else {
      return nil
    }
    // The name of the archive's first file.
    let name = unsafe String(decoding: start.dropFirst(30), as: UTF8.self)
    self = form == .zip && ["[Content", "_rels/", "docProps"].contains { name.hasPrefix($0) } ? .workbook : form
  }

  /// Reads the start of an open file. Also nil if the file cannot be read; the run itself will report that.
  init?(of file: borrowing OpenFile, isCompressed: Bool) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.markBytes, alignment: 1)
    defer { unsafe buffer.deallocate() }
    // A read error is ignored, as documented above.
    guard let count = try? unsafe file.read(into: buffer) else { return nil }
    unsafe self.init(UnsafeRawBufferPointer(rebasing: buffer[..<count]), isCompressed: isCompressed)
  }

  private var mark: [UInt8] {
    switch self {
    case .parquet: Array("PAR1".utf8)
    case .avro: Array("Obj\u{1}".utf8)
    case .zstandard: [0x28, 0xB5, 0x2F, 0xFD]
    // Includes the mark of the first block, because `BZh9` alone could be text.
    case .bzip2: Array("BZh9".utf8) + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59]
    case .xz: [0xFD] + Array("7zXZ".utf8) + [0]
    case .workbook, .zip: Array("PK\u{3}\u{4}".utf8)
    }
  }
}

extension FileForm: CustomStringConvertible {
  package var description: String {
    switch self {
    case .parquet:
      "a Parquet file, but inputs must be text; convert it to lines of JSON, for example with DuckDB: "
        + "COPY (SELECT * FROM 'FILE') TO 'events.ndjson' (FORMAT json)"
    case .avro:
      "an Avro file, but inputs must be text; convert it to lines of JSON, for example with 'avro-tools tojson FILE'"
    case .workbook: "an Excel workbook, but inputs must be text; save each sheet as CSV UTF-8"
    case .zstandard: Self.piped("zstd", "zstd -dc")
    case .bzip2: Self.piped("bzip2", "bzip2 -dc")
    case .xz: Self.piped("xz", "xz -dc")
    case .zip:
      Self.piped("zip", "unzip -p")
        + "; if the archive contains .gz files: unzip -p FILE | gunzip -c | engage-batch run JOB"
    }
  }

  private static func piped(_ name: String, _ program: String) -> String {
    "compressed with \(name), but inputs must be text or .gz; use '-' as the input path in the job and pipe the file in: "
      + "\(program) FILE | engage-batch run JOB"
  }
}

extension InputFile {
  private static let pieceBytes = 1 << 20
  /// The number of bytes by which consecutive pieces overlap, and so the maximum length of the bytes searched for.
  private static let overlap = 4 << 10

  /// Returns whether `isThere` finds something in the file, which is inflated if compressed.
  ///
  /// - Parameter isThere: searches one piece of the file; consecutive pieces overlap.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package func has(_ isThere: ([UInt8]) -> Bool) throws -> Bool {
    let reader = try FileReader(self)
    var piece: [UInt8] = []
    while true {
      let kept = min(piece.count, Self.overlap)
      piece.removeFirst(piece.count - kept)
      piece += [UInt8](repeating: 0, count: Self.pieceBytes)
      let count = try unsafe piece.withUnsafeMutableBytes {
        try unsafe reader.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[kept...]))
      }
      piece.removeLast(Self.pieceBytes - count)
      if isThere(piece) { return true }
      if count == 0 { return false }
    }
  }
}
