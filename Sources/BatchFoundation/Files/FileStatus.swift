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
