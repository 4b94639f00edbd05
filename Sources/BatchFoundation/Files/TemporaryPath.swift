import Glibc

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
