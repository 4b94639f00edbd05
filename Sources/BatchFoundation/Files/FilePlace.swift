import Glibc

/// Which file a path means, so that two paths can be compared before either is opened.
public enum FilePlace: Hashable, Sendable {
  /// Something that is there, by whatever name.
  case present(FileStatus.Identity)
  /// Nothing yet: a path from the nearest folder that is there.
  case absent(String, in: FileStatus.Identity)

  /// Nil where two outputs may share it: a device, such as a terminal or `/dev/null`.
  ///
  /// - Throws: the system's error number, where it cannot be told.
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

/// What the path of an output stands for.
public enum OutputPath: Equatable, Sendable {
  /// A file, or a place for one.
  case file(String)
  /// What this process has open already: `-` for stdout, `/dev/stdout`, `/dev/fd/3`.
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
