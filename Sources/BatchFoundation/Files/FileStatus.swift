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

/// Paths as text.
public enum PathText {
  /// The folder in which the path's last name stands.
  public static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The last name of the path.
  public static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// The path behind symbolic links at its end, also where nothing stands there yet.
  ///
  /// What is written beside a file, such as a log or a draft, has to stand beside the file and not beside a link to it.
  ///
  /// - Throws: the system's error number; `ELOOP` for links without an end.
  public static func behindLinks(_ path: String) throws(SystemError) -> String {
    var path = path
    var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    for _ in 0..<40 {
      var status = stat()
      guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
      let count = unsafe readlink(path, &target, Int(PATH_MAX))
      guard count > 0 else { throw SystemError(count < 0 ? errno : ENOENT) }
      let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      path = text.utf8.first == UInt8(ascii: "/") ? text : "\(folder(of: path))/\(text)"
    }
    throw SystemError(ELOOP)
  }

  /// The name as one component of a path: bytes other than ASCII letters, digits, `.`, `_` and `-` become `-`.
  public static func component(_ name: String) -> String {
    String(
      decoding: name.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          byte
        default: UInt8(ascii: "-")
        }
      }, as: UTF8.self)
  }
}
