import Glibc

/// A file that gets its name when it is whole: it is written beside the place that it is for, and renamed.
///
/// Until then what stood there stays as it is, and a draft that is given up is removed. A kill leaves a file that begins with
/// `.engage-batch-`, readable by its owner only.
public final class DraftFile {
  /// The path that it is for, behind symbolic links.
  public let path: String
  public let descriptor: Int32
  private let draft: String
  private var isPublished = false

  /// - Parameter path: where it will stand; links at its end are followed.
  public init(for path: String) throws(SystemError) {
    self.path = try PathText.behindLinks(path)
    (draft, descriptor) = try TemporaryPath.file("\(PathText.folder(of: self.path))/.engage-batch-")
  }

  deinit {
    close(descriptor)
    if !isPublished { unsafe unlink(draft) }
  }

  /// Adds bytes at its end.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try unsafe FileDescriptor.write(bytes, to: descriptor)
  }

  public func write(_ bytes: [UInt8]) throws(SystemError) {
    try FileDescriptor.write(bytes, to: descriptor)
  }

  /// Gives it its name, in place of what has it.
  ///
  /// A file that is replaced hands on its rights.
  ///
  /// - Throws: `EEXIST` when what stands there is no file, such as a device or a FIFO; it stays.
  public func replace() throws(SystemError) {
    if let present = try FileStatus.at(path) {
      guard present.kind == .file else { throw SystemError(present.kind == .folder ? EISDIR : EEXIST) }
      fchmod(descriptor, present.mode & 0o777)
    }
    guard unsafe rename(draft, path) == 0 else { throw SystemError(errno) }
    isPublished = true
  }

  /// Gives it its name, unless something has that already, and makes both durable.
  ///
  /// - Throws: `EEXIST` when something stands there; it stays as it is.
  public func publish() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw SystemError(errno) }
    try Self.name(draft, as: path)
    isPublished = true
  }

  /// Gives a file beside its place its name there, unless something has that already, and makes the name durable.
  ///
  /// - Throws: `EEXIST` when something stands there; it stays as it is.
  public static func name(_ draft: String, as path: String) throws(SystemError) {
    if unsafe link(draft, path) == 0 {
      unsafe unlink(draft)
    } else {
      guard [EPERM, EOPNOTSUPP, EMLINK].contains(errno) else { throw SystemError(errno) }
      try renameWithoutLinks(draft, path)
    }
    let folder = unsafe open(PathText.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may not be read cannot be synced; the name is there all the same.
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  /// As a hard link and its end, for file systems that have none: the name is taken first, so that what is replaced is our own.
  private static func renameWithoutLinks(_ draft: String, _ path: String) throws(SystemError) {
    let reserved = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard reserved >= 0 else { throw SystemError(errno) }
    close(reserved)
    guard unsafe rename(draft, path) == 0 else { throw SystemError(errno) }
  }
}

/// Files and folders for their owner alone, by names that nothing else has.
public enum TemporaryPath {
  /// - Parameter prefix: the path up to six characters that are found for it.
  public static func file(_ prefix: String) throws(SystemError) -> (path: String, descriptor: Int32) {
    var template = Array("\(prefix)XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0 else { throw SystemError(errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return (text(template), descriptor)
  }

  /// A file that has no name once it is open: nothing of it outlives the process.
  public static func unnamedFile(in folder: String) throws(SystemError) -> Int32 {
    let (path, descriptor) = try file("\(folder)/engage-batch-")
    guard unsafe unlink(path) == 0 else {
      let error = SystemError(errno)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// - Parameter prefix: the path up to six characters that are found for it.
  public static func folder(_ prefix: String) throws(SystemError) -> String {
    var template = Array("\(prefix)XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError(errno) }
    return text(template)
  }

  private static func text(_ template: [CChar]) -> String {
    String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
