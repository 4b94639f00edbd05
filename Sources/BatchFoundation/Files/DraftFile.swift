import Glibc

/// A file that is written next to its destination and renamed once it is complete.
///
/// Until then an existing file at the destination is untouched; an abandoned draft is removed. A kill leaves a file
/// that begins with `.engage-batch-`, readable only by its owner.
public final class DraftFile {
  /// The destination, with symbolic links resolved.
  public let path: String
  public let descriptor: Int32
  private let draft: String
  private var isPublished = false

  /// - Parameter path: the destination; symbolic links at its end are followed.
  /// - Throws: the system's error number; `ELOOP` after 40 links.
  public init(for path: String) throws(SystemError) {
    self.path = try PathText.behindLinks(path)
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

  /// Renames the draft to its destination, replacing a file there and taking over its permissions.
  ///
  /// - Throws: `EISDIR` or `EEXIST` if a folder or another non-file exists there, such as a FIFO; it stays.
  public func replace() throws(SystemError) {
    if let present = try FileStatus.at(path) {
      guard present.kind == .file else { throw SystemError(present.kind == .folder ? EISDIR : EEXIST) }
      fchmod(descriptor, present.mode & 0o777)
    }
    guard unsafe rename(draft, path) == 0 else { throw SystemError(errno) }
    isPublished = true
  }

  /// Renames the draft to its destination if nothing exists there, and makes both file and name durable.
  ///
  /// - Throws: `EEXIST` if something exists there; it stays unchanged.
  public func publish() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw SystemError(errno) }
    try Self.name(draft, as: path)
    isPublished = true
  }

  /// Renames a file within its folder unless the name is taken, and makes the name durable.
  ///
  /// - Throws: `EEXIST` if something exists there; it stays unchanged.
  public static func name(_ draft: String, as path: String) throws(SystemError) {
    if unsafe link(draft, path) == 0 {
      unsafe unlink(draft)
    } else {
      guard [EPERM, EOPNOTSUPP, EMLINK].contains(errno) else { throw SystemError(errno) }
      try renameWithoutLinks(draft, path)
    }
    let folder = unsafe open(PathText.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder without read permission cannot be synced; the name exists all the same.
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  /// Renames without hard links, for file systems without them; reserves the name first, so no other file is replaced.
  private static func renameWithoutLinks(_ draft: String, _ path: String) throws(SystemError) {
    let reserved = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard reserved >= 0 else { throw SystemError(errno) }
    close(reserved)
    guard unsafe rename(draft, path) == 0 else { throw SystemError(errno) }
  }
}

/// Files and folders accessible only to their owner. Their names are a prefix with six random characters.
public enum TemporaryPath {
  public static func file(_ prefix: String) throws(SystemError) -> (path: String, descriptor: Int32) {
    var template = Array("\(prefix)XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0 else { throw SystemError(errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return (text(template), descriptor)
  }

  /// Opens a file and unlinks it at once, so that nothing of it outlives the process.
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
