public import Glibc

public struct FileStatus: Equatable, Sendable {
  public enum Kind: String, Sendable {
    case file = "a file"
    case folder = "a folder"
    case pipe = "a FIFO"
    case device = "a device"
    case socket = "a socket"
    case other = "a special file"
  }

  /// The identity of a file, the same for all hard and symbolic links to it.
  public struct Identity: Hashable, Sendable {
    public var device: UInt64
    public var inode: UInt64
  }

  public var identity: Identity
  public var kind: Kind
  /// The size in bytes; meaningful only for files.
  public var size: Int64
  /// The permissions, as `chmod` takes them.
  public var mode: mode_t

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
  }

  /// Returns the status of the path after following symbolic links; nil if nothing exists there.
  ///
  /// - Throws: the system's error number, if the path cannot be examined.
  public static func at(_ path: String) throws(SystemError) -> FileStatus? {
    var status = stat()
    if unsafe stat(path, &status) == 0 { return FileStatus(status) }
    let code = errno
    guard code == ENOENT || code == ENOTDIR else { throw SystemError(code) }
    return nil
  }

  /// Returns the status of a descriptor; throws `EBADF` if it is not open.
  public static func of(_ descriptor: Int32) throws(SystemError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(errno) }
    return FileStatus(status)
  }
}

public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The error number, as in `errno`.
  public var code: Int32

  public init(_ code: Int32) { self.code = code }

  public var description: String { unsafe String(cString: strerror(code)) }
}

/// Reads regular files that a job or a command names. Other kinds are refused by default, because reading a device or a
/// FIFO without a writer may block.
public enum RegularFile {
  /// The default size limit in bytes, far above the size of any hand-written file.
  public static let usuallyLargest = 16 << 20

  public enum Failure: Error, Equatable {
    case system(SystemError)
    case notAFile(FileStatus.Kind)
    case tooLarge(limit: Int)

    /// The reason in words, without the path.
    public var reason: String {
      switch self {
      case .system(let error): "cannot be read: \(error)"
      case .notAFile(let kind): "it is \(kind.rawValue), not a regular file"
      case .tooLarge(let limit): "it is larger than \(limit) bytes"
      }
    }
  }

  /// - Parameters:
  ///   - largest: the maximum number of bytes to accept.
  ///   - takesPipes: whether the path may also be a pipe, such as a shell's `<(command)`, or a terminal.
  /// - Throws: `Failure.system`, `notAFile` or `tooLarge`.
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

/// The file that a path refers to, for comparing paths before their files are opened or even exist.
public enum FilePlace: Hashable, Sendable {
  /// An existing file, whatever path leads to it.
  case present(FileStatus.Identity)
  /// A path that does not exist yet, relative to the nearest existing folder above it.
  case absent(String, in: FileStatus.Identity)

  /// Nil for devices, such as a terminal or `/dev/null`, which two outputs may share.
  ///
  /// - Throws: the system's error number, if the file cannot be examined.
  public init?(_ path: String) throws(SystemError) {
    if case .open(let number) = OutputPath(path) {
      self.init(try FileStatus.of(number))
      return
    }
    let path = try PathText.resolvingLinks(path)
    if let status = try FileStatus.at(path) {
      self.init(status)
      return
    }
    var folder = PathText.folder(of: path)
    var name = PathText.name(of: path)
    while try FileStatus.at(folder) == nil, folder != "/", folder != "." {
      name = "\(PathText.name(of: folder))/\(name)"
      folder = PathText.folder(of: folder)
    }
    guard let status = try FileStatus.at(folder) else { return nil }
    self = .absent(name, in: status.identity)
  }

  private init?(_ status: FileStatus) {
    guard status.kind != .device else { return nil }
    self = .present(status.identity)
  }
}

/// The destination that an output path names.
public enum OutputPath: Equatable, Sendable {
  case file(String)
  /// A descriptor that is already open in this process: `-` for stdout, `/dev/stdout`, `/dev/fd/3`.
  case open(Int32)

  public init(_ path: String) {
    self = .file(path)
    if path == "-" { self = .open(STDOUT_FILENO) }
    for (name, number) in [("/dev/stdout", STDOUT_FILENO), ("/dev/stderr", STDERR_FILENO)] where path == name {
      self = .open(number)
    }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      if let number = Int32(path.dropFirst(folder.count)), number >= 0 { self = .open(number) }
    }
  }
}
