package import BatchFoundation
package import BatchReport
import FoundationEssentials
import Glibc

/// The error thrown when an output file, folder or object cannot be written.
package struct OutputError: RunError, Equatable, CustomStringConvertible {
  package var path: String
  package var code: Int32
  /// The message of a storage service; nil for a file.
  package var message: String?

  package var exit: RunExit { .cannotWrite }

  package init(path: String, code: Int32) {
    self.path = path
    self.code = code
  }

  /// The error for an address where only a path can be written.
  fileprivate static func notOnDisk(_ address: String) -> OutputError {
    var error = OutputError(path: address, code: EINVAL)
    error.message = "\(address.printable): error: this output must be a local path, not an address"
    return error
  }

  /// Runs `body`, which writes an object.
  fileprivate static func at<Value>(address: String, _ body: () throws -> Value) throws(OutputError) -> Value {
    do {
      return try body()
    } catch {
      var failure = OutputError(path: address, code: EIO)
      failure.message = "\(error)"
      throw failure
    }
  }

  /// Runs `body` and adds the path to its errors.
  package static func at<Value>(
    _ path: String, _ body: () throws(SystemError) -> Value
  ) throws(OutputError) -> Value {
    do { return try body() } catch { throw OutputError(path: path, code: error.code) }
  }

  package var description: String {
    if let message { return message }
    return
      unsafe "\(path == "-" ? "stdout" : path.printable): error: cannot be written: \(String(cString: strerror(code)))"
  }
}

/// A file, stream or object that a run writes data to; "-" is stdout, and `s3://bucket/key` an object.
///
/// An object appears when it is complete, like a file, or not at all.
///
/// A file gets its name when it is complete (``finish()``), with mode 0600 or the permissions of the file that it
/// replaces; until then an existing file is left in place. Anything else, such as a FIFO or `/dev/stdout`, is written
/// to directly. After the reader has closed its end, further writes are ignored; anything else that prevents a write
/// throws ``OutputError``.
package final class OutputFile {
  private enum Target {
    case draft(DraftFile)
    case open(Int32, isOwn: Bool)
    /// A terminal, for which control characters are escaped.
    case terminal(Int32, isOwn: Bool)
    case object(any RemoteWriter)

    init(open descriptor: Int32, isOwn: Bool) {
      self = isatty(descriptor) == 1 ? .terminal(descriptor, isOwn: isOwn) : .open(descriptor, isOwn: isOwn)
    }
  }

  private let path: String
  private let target: Target
  private var isClosed = false
  private var terminal = TerminalText()

  /// - Parameters:
  ///   - storage: where addresses are written; nil if the output must be a file.
  ///   - check: called while an object is written; may throw to stop.
  /// - Throws: ``OutputError``.
  package init(
    _ path: String, _ storage: (any RemoteStorage)? = nil, check: @escaping () throws -> Void = {}
  ) throws(OutputError) {
    self.path = path
    if RemoteAddress(path) != nil {
      guard let storage else { throw OutputError.notOnDisk(path) }
      target = .object(try OutputError.at(address: path) { try storage.writer(of: path, if: nil, check: check) })
      return
    }
    target = try OutputError.at(path) { () throws(SystemError) in try Self.target(path) }
  }

  deinit {
    switch target {
    case .open(let descriptor, isOwn: true), .terminal(let descriptor, isOwn: true): close(descriptor)
    default: break
    }
  }

  private static func target(_ path: String) throws(SystemError) -> Target {
    if case .open(let number) = OutputPath(path) { return Target(open: number, isOwn: false) }
    let present = try FileStatus.at(path)
    switch present?.kind {
    case .folder: throw SystemError(EISDIR)
    case nil: return .draft(try DraftFile(for: path))
    case .file:
      do {
        return .draft(try DraftFile(for: path))
      } catch {
        // Even if no file can be created in the folder, the existing file may be writable.
        guard [EACCES, EPERM, EROFS].contains(error.code) else { throw error }
        return Target(open: try open(path, O_TRUNC), isOwn: true)
      }
    // Without a reader, a FIFO would block the run forever.
    default: return Target(open: try open(path, O_NONBLOCK), isOwn: true)
    }
  }

  private static func open(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags)
    guard descriptor >= 0 else { throw SystemError(errno) }
    return descriptor
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
    guard !isClosed else { return }
    if case .object(let writer) = target {
      return try OutputError.at(address: path) { try unsafe writer.write(bytes) }
    }
    do {
      switch target {
      case .draft(let draft): try unsafe draft.write(bytes)
      case .open(let descriptor, _): try unsafe FileDescriptor.write(bytes, to: descriptor)
      case .terminal(let descriptor, _):
        try unsafe FileDescriptor.write(terminal.spelledOut(bytes), to: descriptor)
      case .object: break
      }
    } catch {
      guard error.code != EPIPE else {
        isClosed = true
        return
      }
      throw OutputError(path: path, code: error.code)
    }
  }

  package func write(_ text: String) throws(OutputError) {
    try unsafe Array(text.utf8).withUnsafeBufferPointer { bytes throws(OutputError) in
      try unsafe write(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Gives the file its name. Without this call, no file appears. Throws ``OutputError``, for example if the
  /// name now belongs to something other than a file.
  package func finish() throws(OutputError) {
    switch target {
    case .draft(let draft): try OutputError.at(path) { () throws(SystemError) in try draft.replace() }
    case .object(let writer): _ = try OutputError.at(address: path) { try writer.finish() }
    case .open, .terminal: break
    }
  }

  package static func write(
    _ text: String, to path: String, _ storage: (any RemoteStorage)? = nil
  ) throws(OutputError) {
    let file = try OutputFile(path, storage)
    try file.write(text)
    try file.finish()
  }
}

/// The folders that a run creates for its files, accessible only to their owner.
enum OutputFolder {
  /// Creates the folder of a file and its parent folders, unless they exist.
  ///
  /// - Throws: ``OutputError``.
  static func make(for file: String) throws {
    if RemoteAddress(file) != nil { throw OutputError.notOnDisk(file) }
    let folder = URL(filePath: file).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw OutputError(path: folder.path, code: errno)
    }
  }
}

/// Writes files that must not exist yet, accessible only to their owner, like the folders created for them.
package enum NewFile {
  /// - Throws: ``OutputError`` if something exists at the path.
  package static func refuse(at path: String) throws {
    try OutputError.at(path) { () throws(SystemError) in
      if try FileStatus.at(path) != nil { throw SystemError(EEXIST) }
    }
  }

  /// - Throws: ``OutputError``; also if something already exists at the path, which is left unchanged.
  package static func write(_ text: String, to path: String) throws {
    try OutputFolder.make(for: path)
    try OutputError.at(path) { () throws(SystemError) in
      let draft = try DraftFile(for: path)
      try draft.write(text)
      try draft.publish()
    }
  }
}

extension DraftFile {
  func write(_ text: String) throws(SystemError) { try write(Array(text.utf8)) }
}

/// The file that a Prometheus collector reads: it is complete at every moment, and keeps its permissions when replaced.
package enum MetricsFile {
  /// - Parameters:
  ///   - job: the name of the job; empty if the job cannot be read. The name is then taken from the existing file.
  ///   - metrics: returns the metrics for the job's name (nil if unknown) and the end of its last successful run
  ///     according to the existing file (nil if there is none).
  /// - Throws: ``OutputError``.
  package static func write(
    to path: String, _ storage: any RemoteStorage, job: String,
    _ metrics: (_ job: String?, _ lastSuccess: Instant?) -> MetricsText
  ) throws {
    // A file that cannot be read says nothing about earlier runs, and reading a file that is not regular might never
    // end.
    let isFile = (try? FileStatus.at(path)?.kind) == .file
    var before = isFile ? FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } : nil
    if RemoteAddress(path) != nil {
      var bytes: [UInt8] = []
      if (try? unsafe storage.read(path) { unsafe bytes.append(contentsOf: $0) }) != nil {
        before = String(decoding: bytes, as: UTF8.self)
      }
    }
    let name = job.isEmpty ? before.flatMap(MetricsText.job) : job
    let text = metrics(name, before.flatMap { MetricsText.lastSuccess(of: name ?? job, in: $0) }).text
    try OutputFile.write(text, to: path, storage)
  }
}
