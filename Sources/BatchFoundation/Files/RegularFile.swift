import Glibc

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
