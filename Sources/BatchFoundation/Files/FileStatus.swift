public import Glibc

/// What stands at a path, or is open behind a descriptor.
public struct FileStatus: Equatable, Sendable {
  public enum Kind: String, Sendable {
    case file = "a file"
    case folder = "a folder"
    case pipe = "a FIFO"
    case device = "a device"
    case socket = "a socket"
    case other = "no file"
  }

  /// Which file it is, under whatever name: the same for hard links and through symbolic ones.
  public struct Identity: Hashable, Sendable {
    public var device: UInt64
    public var inode: UInt64
  }

  public var identity: Identity
  public var kind: Kind
  /// Bytes; of no meaning where it is not a file.
  public var size: Int64
  /// The rights, as `chmod` takes them.
  public var mode: mode_t
  /// How many names it has.
  public var names: Int

  public init(_ status: stat) {
    identity = Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFIFO: .pipe
      case S_IFCHR, S_IFBLK: .device
      case S_IFSOCK: .socket
      default: .other
      }
    size = Int64(status.st_size)
    mode = status.st_mode & 0o7777
    names = Int(status.st_nlink)
  }

  /// What stands at the path, symbolic links followed; nil if nothing does.
  ///
  /// - Throws: the system's error number, where it cannot be told.
  public static func at(_ path: String) throws(SystemError) -> FileStatus? {
    var status = stat()
    if unsafe stat(path, &status) == 0 { return FileStatus(status) }
    let code = errno
    guard code == ENOENT || code == ENOTDIR else { throw SystemError(code) }
    return nil
  }

  /// What is open behind the descriptor.
  public static func of(_ descriptor: Int32) throws(SystemError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(errno) }
    return FileStatus(status)
  }
}

/// A call that the system refused.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The number of the error, as in `errno`.
  public var code: Int32

  public init(_ code: Int32) { self.code = code }

  public var description: String { unsafe String(cString: strerror(code)) }
}

/// Reads files that a job or a command names whole: nothing but files, so that a FIFO without a writer or a device holds nobody up.
public enum RegularFile {
  /// What is read where nobody says how much it may be: what somebody wrote by hand does not come near.
  public static let usuallyLargest = 16 << 20

  public enum Failure: Error, Equatable {
    case system(SystemError)
    /// Something else stands there.
    case notAFile(FileStatus.Kind)
    case tooLarge(limit: Int)

    /// In words, without the path.
    public var reason: String {
      switch self {
      case .system(let error): "cannot read it: \(error)"
      case .notAFile(let kind): "it is \(kind.rawValue), and not a regular file"
      case .tooLarge(let limit): "it is larger than \(limit) bytes"
      }
    }
  }

  /// - Parameters:
  ///   - largest: the largest number of bytes that are taken.
  ///   - takesPipes: whether the path may be a pipe, as `<(command)` of a shell hands one over, or a terminal.
  public static func read(
    _ path: String, largest: Int = usuallyLargest, takesPipes: Bool = false
  ) throws(Failure) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (takesPipes ? 0 : O_NONBLOCK))
    guard file >= 0 else { throw .system(SystemError(errno)) }
    defer { close(file) }
    let kind: FileStatus.Kind
    let bytes: [UInt8]?
    do {
      kind = try FileStatus.of(file).kind
      bytes = kind == .file || takesPipes ? try FileDescriptor.readAll(file, limit: largest) : []
    } catch {
      throw .system(error)
    }
    guard kind == .file || takesPipes else { throw .notAFile(kind) }
    guard let bytes else { throw .tooLarge(limit: largest) }
    return bytes
  }
}
