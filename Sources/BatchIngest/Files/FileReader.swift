import BatchFoundation

/// The bytes of one input file, inflated if it is compressed.
final class FileReader {
  let file: InputFile
  private let open: OpenFile
  private var gzip: GzipSource?
  /// The number of bytes read from the disk so far.
  private(set) var bytesRead: UInt64 = 0
  private(set) var fault: GzipFault?
  /// The checksum of the bytes on disk; nil if not requested.
  private var sum: CopySum?
  private let idle: () throws -> Void

  /// - Parameters:
  ///   - file: the file as the search found it.
  ///   - sums: whether to compute a checksum of its bytes.
  ///   - idle: called a few times a second while a pipe has nothing to read; throws to stop.
  /// - Throws: ``IngestFailure`` when the file can no longer be opened, ``InputChanged`` when it is no longer a file.
  init(_ file: InputFile, sums: Bool = false, idle: @escaping () throws -> Void = {}) throws {
    self.file = file
    sum = sums ? CopySum() : nil
    self.idle = idle
    do {
      open = try file.handedOver == nil ? OpenFile(file.path) : OpenFile(.standardInput, goesOn: true)
    } catch {
      throw IngestFailure(operation: "open", path: file.path.description, code: error.code)
    }
    // It was one when it was found. A FIFO without a writer would read as an empty file.
    guard file.handedOver != nil || (file.isPipe ? open.facts.isPipe : open.facts.isRegular) else {
      throw InputChanged(path: file.path.description, change: .isNoFile)
    }
    gzip = file.isCompressed ? try GzipSource() : nil
  }

  /// Reads bytes into `buffer`; returns 0 at the end and at damage.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if gzip != nil { return try unsafe inflate(into: buffer) }
    return try unsafe readDisk(into: buffer)
  }

  /// Checks that a handed-over file arrived in full, including the part after any damage.
  ///
  /// - Parameter lines: the number of lines read.
  /// - Throws: ``CutInputError``; ``IngestFailure`` when reading fails.
  func proveWhole(lines: @autoclosure () -> UInt64) throws {
    guard let listed = file.handedOver else { return }
    if let bytes = listed.bytes {
      let rest = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
      defer { unsafe rest.deallocate() }
      while try unsafe readDisk(into: rest) > 0 {}
      try prove("bytes", bytesRead, bytes)
    }
    if let wanted = listed.lines { try prove("lines", lines() - listed.linesBefore, wanted) }
  }

  /// The checksum of the bytes on disk if all bytes present when the file was found were read; nil otherwise.
  var sumOfWhole: Digest? {
    fault == nil && bytesRead == file.size ? sum?.finalize() : nil
  }

  /// Reads a whole file without inflating it, for ``sumOfWhole`` only.
  func readForSum() throws {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { unsafe piece.deallocate() }
    while try unsafe readDisk(into: piece) > 0 { try idle() }
  }

  private func prove(_ unit: String, _ came: UInt64, _ listed: UInt64) throws {
    guard came == listed else {
      throw CutInputError(path: file.path.description, unit: unit, came: came, listed: listed)
    }
  }

  private func readDisk(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
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
    if bytesRead == 0, file.handedOver?.bytesBefore ?? 0 == 0,
      let form = unsafe FileForm(UnsafeRawBufferPointer(rebasing: buffer[..<count]), isCompressed: file.isCompressed)
    {
      throw InputError.foreign(path: file.path.description, form)
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

/// A compressed file's current piece and the state of its stream.
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
