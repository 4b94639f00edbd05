package import BatchFoundation
import Glibc

/// An exclusive lock on the store's file, so that only one process at a time uses the store, whatever path it opens. An
/// open descriptor holds the lock. Child processes do not inherit the lock, and it ends with the process. It
/// covers a byte far beyond those that SQLite locks, and belongs to the descriptor rather than the process, so the
/// locks do not interfere.
package final class StoreLock: Sendable {
  private static let byte: off_t = 1 << 62
  /// `F_OFD_SETLK`, which the headers declare only with a feature macro.
  private static let setLockOfDescriptor: Int32 = 37

  private let path: String
  private let shown: String
  private let identity: FileStatus.Identity
  /// The open descriptor; nil once the lock is released.
  private let descriptor: Guarded<Int32?>

  /// - Parameter path: the path of an existing store, with symbolic links resolved.
  /// - Throws: ``StoreError/heldByAnotherRun(path:holder:)``, without waiting, if another process has the lock.
  init(store path: String, shown: String) throws {
    let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw StoreError.inputOutput(path: shown, operation: "lock", code: errno) }
    do {
      identity = try Self.lock(descriptor, path, shown)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    self.descriptor = Guarded(descriptor)
    self.path = path
    self.shown = shown
    StoreHolder.current.note(at: path)
  }

  deinit { release() }

  private static func lock(_ descriptor: Int32, _ path: String, _ shown: String) throws -> FileStatus.Identity {
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_whence = Int16(SEEK_SET)
    range.l_start = byte
    range.l_len = 1
    guard unsafe fcntl(descriptor, setLockOfDescriptor, &range) == 0 else {
      let code = errno
      if code == EAGAIN || code == EACCES {
        throw StoreError.heldByAnotherRun(path: shown, holder: StoreHolder(notedAt: path))
      }
      throw StoreError.inputOutput(path: shown, operation: "lock", code: code)
    }
    let held = try StoreError.naming(shown, "open", FileStatus.of(descriptor))
    guard held.kind == .file else { throw StoreError.notAFile(path: shown, kind: held.kind) }
    return held.identity
  }

  /// Checks that the locked file is still the store at the path.
  ///
  /// - Throws: ``StoreError/replaced(path:)``.
  func check() throws {
    guard try StoreFile.status(path, shown)?.identity == identity else { throw StoreError.replaced(path: shown) }
  }

  /// Releases the lock; repeated calls have no effect.
  func release() {
    descriptor.withLock { descriptor in
      guard let open = descriptor else { return }
      StoreHolder.forget(at: path)
      Glibc.close(open)
      descriptor = nil
    }
  }
}

/// The process that uses a store, as noted in `<store>.lock` for other processes. The lock does not depend on that
/// file.
package struct StoreHolder: Equatable, Sendable, CustomStringConvertible {
  package var process: Int32
  package var since: Instant
  /// Up to three words from the command line, before its first option.
  package var command: String

  private static let mark = "engage-batch store held by"

  static var current: StoreHolder {
    let words = CommandLine.arguments.dropFirst().prefix { $0.utf8.first != UInt8(ascii: "-") }.prefix(3)
    return StoreHolder(process: getpid(), since: .now, command: words.joined(separator: " ").printable)
  }

  package var description: String {
    "process \(process) since \(since.rfc3339)" + (command.isEmpty ? "" : ", '\(command)'")
  }
}

extension StoreHolder {
  /// Reads the note of the process that holds the store; nil if there is none.
  init?(notedAt store: String) {
    guard let descriptor = Self.openNote(at: store, O_RDONLY) else { return nil }
    defer { Glibc.close(descriptor) }
    let lines = Self.text(descriptor).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count >= 4, lines[0] == Self.mark, let process = Int32(lines[1]),
      let since = Instant.parse(rfc3339: lines[2])
    else { return nil }
    self.init(process: process, since: since, command: lines[3].printable)
  }

  /// Writes a note of the process that holds the store. It only informs people; the lock does not depend on it.
  func note(at store: String) {
    guard let descriptor = Self.openNote(at: store, O_RDWR | O_CREAT) else { return }
    defer { Glibc.close(descriptor) }
    // Another program's file that happens to have the name is left unchanged.
    let present = Self.text(descriptor)
    guard present.isEmpty || present.hasPrefix(Self.mark) else { return }
    let text = "\(Self.mark)\n\(process)\n\(since.rfc3339)\n\(command)\n"
    guard ftruncate(descriptor, 0) == 0 else { return }
    _ = unsafe text.utf8CString.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count - 1, 0) }
  }

  static func forget(at store: String) {
    guard let descriptor = openNote(at: store, O_RDWR) else { return }
    defer { Glibc.close(descriptor) }
    guard text(descriptor).hasPrefix(mark) else { return }
    _ = ftruncate(descriptor, 0)
  }

  /// Opens the note; returns nil unless it is a regular file.
  private static func openNote(at store: String, _ flags: Int32) -> Int32? {
    let descriptor = unsafe open(store + ".lock", flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600)
    guard descriptor >= 0 else { return nil }
    guard (try? FileStatus.of(descriptor))?.kind == .file else {
      Glibc.close(descriptor)
      return nil
    }
    return descriptor
  }

  private static func text(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
