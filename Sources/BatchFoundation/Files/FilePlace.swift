import Glibc

/// The file that a path refers to, comparable before the file is opened or exists.
public enum FilePlace: Hashable, Sendable {
  /// An existing file, under whatever name.
  case present(FileStatus.Identity)
  /// A path that does not exist yet, relative to the nearest folder that does.
  case absent(String, in: FileStatus.Identity)

  /// Nil for devices, such as a terminal or `/dev/null`, which two outputs may share.
  ///
  /// - Throws: the system's error number, if the file cannot be examined.
  public init?(_ path: String) throws(SystemError) {
    if let number = OutputPath(path).descriptor {
      self.init(try FileStatus.of(number))
      return
    }
    let path = try PathText.behindLinks(path)
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

/// The destination that the path of an output names.
public enum OutputPath: Equatable, Sendable {
  case file(String)
  /// A descriptor that this process has open: `-` for stdout, `/dev/stdout`, `/dev/fd/3`.
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

  var descriptor: Int32? {
    if case .open(let number) = self { number } else { nil }
  }
}
