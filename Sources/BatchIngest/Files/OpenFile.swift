package import BatchFoundation
import Glibc

/// A reason an input cannot be used.
package enum InputError: RunError, Equatable, Sendable, CustomStringConvertible {
  /// None of the patterns matched a file. `folders` lists the patterns that are folders without files; `passedOver`
  /// lists paths that would match if their names did not begin with `_` or `.`; `days` are the patterns' days, counted
  /// from 1970. If `isOfJob`, the patterns are the job's `inputs`.
  case noInput(
    patterns: [String], days: [Int64] = [], folders: [String] = [], passedOver: [String] = [], isOfJob: Bool = true)
  /// Inputs that the job requires have no file, or not one for each of their days.
  case missing([MissingInput], passedOver: [String] = [])
  case short([ShortInput])
  case unreadable(path: String, code: Int32)
  /// A path named explicitly is neither a file, a folder nor a pipe.
  case notAFile(path: String)
  /// The file is in a binary format.
  case foreign(path: String, FileForm)
  /// A pipe is named for two kinds of records, but can be read only once.
  case pipeTwice(path: String)
  /// A file at an address is named where only files on disk can be read: for a map that opens files itself, or a command
  /// without a job.
  case notOnDisk(path: String)
  /// A file is named for one kind of records with two maps, or with and without one.
  case severalMaps(path: String)

  package var exit: RunExit { .noInput }

  package var description: String {
    switch self {
    case .noInput(let patterns, let days, let folders, let passedOver, let isOfJob):
      "no input: "
        + [
          (patterns.filter { !folders.contains($0) }, "nothing matches "),
          (folders, folders.count == 1 ? "no file in the folder " : "no files in the folders "),
        ].filter { !$0.0.isEmpty }.map { paths, words in
          words + paths.map { "'\($0.printable)'" }.joined(separator: ", ")
        }.joined(separator: ", and ") + MissingInput.words(days) + (isOfJob ? " ('inputs' of the job)" : "")
        + (patterns.contains { $0.contains("/~/") } ? "; '~' is not expanded; use ${HOME} instead" : "")
        + (passedOver.isEmpty ? "" : "; \(InputWarning.words(passedOver: passedOver))")
    case .missing(let inputs, let passedOver):
      Self.refusal(inputs) + (passedOver.isEmpty ? "" : "\n\(InputWarning.words(passedOver: passedOver))")
    case .short(let inputs): Self.refusal(inputs)
    case .unreadable(let path, let code): "\(path.printable): error: cannot be read: \(SystemError(code))"
    case .notAFile(let path): "\(path.printable): error: not a file, folder or pipe"
    case .foreign(let path, let form): "\(path.printable): error: \(form)"
    case .pipeTwice(let path):
      "\(path.printable): error: a pipe can be read only once, but the job lists it for two kinds of records"
    case .notOnDisk(let path):
      "\(path.printable): error: only files on disk can be read here; copy the input to disk, for example with 'aws s3 cp' or 'curl -O'"
    case .severalMaps(let path):
      "\(path.printable): error: two entries read this file with different maps, or one of them without a map; list the file once"
    }
  }

  private static func refusal(_ inputs: [some CustomStringConvertible]) -> String {
    inputs.map { "error: \($0); nothing was processed or sent; to continue anyway, add --allow-missing" }
      .joined(separator: "\n")
  }
}

/// The error thrown if a read or a spill fails during a run: exit code 74.
package struct IngestFailure: InputFailure, Equatable, Sendable, CustomStringConvertible {
  package var operation: String
  package var path: String
  package var code: Int32

  package var description: String { "\(path.printable): error: cannot \(operation): \(SystemError(code))" }
}

/// The error thrown if an input changed after the run found it: exit code 74.
package struct InputChanged: RunError, InputFailure, Equatable, CustomStringConvertible {
  package enum Change: Equatable, Sendable {
    /// A FIFO or a device is now at the path.
    case isNoFile
    /// The numbers of bytes on disk that were read and expected.
    case isShorter(read: UInt64, of: UInt64)
  }

  package var path: String
  package var change: Change

  package var exit: RunExit { .inputOutput }

  package var description: String {
    let words =
      switch change {
      case .isNoFile: "is no longer a file"
      case .isShorter(let read, let size): "shrank while it was read (\(read) of \(size) bytes)"
      }
    return
      "\(path.printable): error: the input \(words); the run imported no records. Run the job again once the whole file is there"
  }
}

extension FileStatus {
  /// The status of standard input, in which a socket counts as a pipe; nil if it is closed.
  static var standardInput: FileStatus? {
    // A closed descriptor has no status.
    try? FileStatus.ofInput(STDIN_FILENO, isStandardInput: true)
  }

  /// Returns the status of an open input.
  static func ofInput(_ descriptor: Int32, isStandardInput: Bool) throws(SystemError) -> FileStatus {
    var status = try FileStatus.of(descriptor)
    if isStandardInput, status.kind == .socket { status.kind = .pipe }
    return status
  }
}

/// A path in the bytes that the system uses, which need not be UTF-8.
package struct FilePath: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  package init(_ string: String) { bytes = Array(string.utf8) }

  /// The path that replaces `-` in a job.
  static let standardInput = FilePath("/dev/stdin")

  package static func < (one: FilePath, other: FilePath) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }

  /// The path for messages; bytes that are not UTF-8 show as U+FFFD.
  package var description: String { String(decoding: bytes, as: UTF8.self) }

  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe (bytes + [0]).withUnsafeBytes { raw in
      // A null-terminated array is never empty.
      unsafe raw.assumingMemoryBound(to: CChar.self).baseAddress.map(body) ?? body([0])
    }
  }

  /// Returns the status of the path, following symbolic links; nil if nothing exists there.
  func status() throws(SystemError) -> FileStatus? {
    if self == .standardInput { return .standardInput }
    var status = stat()
    let code = unsafe withCString { unsafe stat($0, &status) == 0 ? 0 : errno }
    switch code {
    case 0: return FileStatus(status)
    case ENOENT, ENOTDIR: return nil
    default: throw SystemError(code)
    }
  }
}

struct OpenFile: ~Copyable {
  private let descriptor: Int32
  let status: FileStatus

  /// Opens the path without waiting, so that a pipe or device in place of a file cannot block the run.
  ///
  /// - Parameter continues: whether to continue reading standard input at its current offset, even if it is a file.
  init(_ path: FilePath, continues: Bool = false) throws(SystemError) {
    // If standard input were opened by name, another user's pipe would be refused, and a socket could not be opened.
    let isDuplicate = path == .standardInput && (continues || FileStatus.standardInput?.kind == .pipe)
    let descriptor = unsafe path.withCString { path in
      let descriptor = unsafe isDuplicate ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      return descriptor >= 0 ? descriptor : -errno
    }
    guard descriptor >= 0 else { throw SystemError(-descriptor) }
    do {
      status = try FileStatus.ofInput(descriptor, isStandardInput: path == .standardInput)
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  /// Creates a placeholder for a file at an address, without opening anything on disk.
  init() {
    descriptor = -1
    status = FileStatus(stat())
  }

  deinit { close(descriptor) }

  /// Waits until a pipe has bytes or has ended; a pipe that has never had a writer counts as open.
  ///
  /// - Parameter idle: called a few times a second while waiting; may throw to stop.
  func wait(_ idle: () throws -> Void) throws {
    var pipe = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&pipe, 1, 200) <= 0 { try idle() }
  }

  func seek(to offset: UInt64) throws(SystemError) {
    guard lseek(descriptor, off_t(clamping: offset), SEEK_SET) >= 0 else { throw SystemError(errno) }
  }

  /// Reads from where the last call stopped; returns 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try unsafe FileDescriptor.read(descriptor, into: buffer)
  }
}
