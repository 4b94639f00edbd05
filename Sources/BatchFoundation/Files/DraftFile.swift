import Glibc

/// A file that is written next to its destination and renamed once it is complete.
///
/// Until then an existing file at the destination is left in place, and an abandoned draft is removed. If the process
/// is killed, the draft remains: its name begins with `.engage-batch-`, and only its owner can read it. Functions throw
/// the system's error number.
public final class DraftFile {
  /// The destination, with symbolic links resolved.
  public let path: String
  public let descriptor: Int32
  private let draft: String
  private var isPublished = false

  /// - Parameter path: the destination; symbolic links at its end are followed.
  /// - Throws: the system's error number; `ELOOP` after 40 links.
  public init(for path: String) throws(SystemError) {
    self.path = try PathText.resolvingLinks(path)
    (draft, descriptor) = try TemporaryPath.file("\(PathText.folder(of: self.path))/.engage-batch-")
  }

  deinit {
    close(descriptor)
    if !isPublished { unsafe unlink(draft) }
  }

  public func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try unsafe FileDescriptor.write(bytes, to: descriptor)
  }

  public func write(_ bytes: [UInt8]) throws(SystemError) {
    try FileDescriptor.write(bytes, to: descriptor)
  }

  /// Renames the draft to its destination, replacing any file there and keeping that file's permissions.
  ///
  /// - Throws: `EISDIR` if a folder exists at the destination, `EEXIST` if a FIFO or another non-file does; neither is
  ///   replaced.
  public func replace() throws(SystemError) {
    if let present = try FileStatus.at(path) {
      guard present.kind == .file else { throw SystemError(present.kind == .folder ? EISDIR : EEXIST) }
      fchmod(descriptor, present.mode & 0o777)
    }
    guard unsafe rename(draft, path) == 0 else { throw SystemError(errno) }
    isPublished = true
  }

  /// Renames the draft to its destination if nothing exists there, and makes both the file and its name durable.
  ///
  /// - Throws: `EEXIST` if something exists there; it is left unchanged.
  public func publish() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw SystemError(errno) }
    try Self.name(draft, as: path)
    isPublished = true
  }

  /// Renames a file within its folder if the new name is free, and makes the new name durable.
  ///
  /// - Throws: `EEXIST` if something exists there; it is left unchanged.
  public static func name(_ draft: String, as path: String) throws(SystemError) {
    if unsafe link(draft, path) == 0 {
      unsafe unlink(draft)
    } else {
      guard [EPERM, EOPNOTSUPP, EMLINK].contains(errno) else { throw SystemError(errno) }
      try renameWithoutLinks(draft, path)
    }
    let folder = unsafe open(PathText.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder without read permission cannot be synced, but the new name exists anyway.
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  /// Renames a file on a file system without hard links. The name is reserved first, so that no other file is replaced.
  private static func renameWithoutLinks(_ draft: String, _ path: String) throws(SystemError) {
    let reserved = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard reserved >= 0 else { throw SystemError(errno) }
    close(reserved)
    guard unsafe rename(draft, path) == 0 else { throw SystemError(errno) }
  }
}

/// Creates files and folders accessible only to their owner. Their paths are a prefix and six random characters.
/// Functions throw the system's error number.
public enum TemporaryPath {
  public static func file(_ prefix: String) throws(SystemError) -> (path: String, descriptor: Int32) {
    var template = Array("\(prefix)XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0 else { throw SystemError(errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return (text(template), descriptor)
  }

  /// Creates a file and unlinks it at once, so that it does not outlive the process.
  public static func unnamedFile(in folder: String) throws(SystemError) -> Int32 {
    let (path, descriptor) = try file("\(folder)/engage-batch-")
    guard unsafe unlink(path) == 0 else {
      let error = SystemError(errno)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  public static func folder(_ prefix: String) throws(SystemError) -> String {
    var template = Array("\(prefix)XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError(errno) }
    return text(template)
  }

  private static func text(_ template: [CChar]) -> String {
    String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
