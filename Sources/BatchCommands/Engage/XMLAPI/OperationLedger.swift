import BatchFoundation
import Glibc

/// The outcomes of a series of operations, in an append-only file. Each operation is recorded before it is
/// sent.
final class OperationLedger {
  enum State: String {
    /// About to be sent. Without a later line, it is unknown whether the operation was sent.
    case begun
    /// Sent, but no usable response was received.
    case unknown
    /// Not sent, or refused by the service before any effect.
    case pending = "waiting"
    /// Carried out by the service.
    case answered
    /// Rejected by the service.
    case failed
  }

  private static let header = #"{"ledger":"xmlapi"}"#

  private let path: String
  private let descriptor: Int32
  private var states: [ByteText: State] = [:]

  /// Opens or creates the ledger. Any other file at the path is left unchanged.
  ///
  /// - Throws: ``CommandError``.
  init(_ path: String) throws {
    self.path = path
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw unusable(SystemError(errno)) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      guard errno == EWOULDBLOCK else { throw unusable(SystemError(errno)) }
      throw refusal(
        .storeIsHeld, "another command is using this ledger; try again when that command has ended")
    }
    try read()
  }

  deinit { close(descriptor) }

  /// Returns nil for an operation that was never begun.
  func state(of key: String) -> State? { states[ByteText(key)] }

  /// Records the state; it is durable on return.
  func note(_ state: State, of key: String) throws {
    let line = JSONNode.object(["id": .text(key), "state": .text(state.rawValue)]).canonicalText
    try append(line)
    states[ByteText(key)] = state
  }

  private func read() throws {
    let bytes = try system { () throws(SystemError) in try FileDescriptor.readAll(descriptor, limit: .max) ?? [] }
    // Ignores a last line that was truncated because the process was killed or the disk was full.
    let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    guard end > 0 else {
      guard Array(Self.header.utf8).starts(with: bytes) else { throw isNone }
      try truncate(to: 0)
      return try append(Self.header)
    }
    var lines = bytes[..<end].split(separator: 0x0A, omittingEmptySubsequences: false).dropLast()
    guard lines.popFirst()?.elementsEqual(Self.header.utf8) == true else { throw isNone }
    for (number, line) in lines.enumerated() {
      // The kind of damage does not matter.
      guard let node = try? JSONNode.parse(Array(line)), let key = node["id"]?.string,
        let state = node["state"]?.string.flatMap(State.init)
      else { throw refusal(.inputOutput, "damaged at line \(number + 2); nothing was sent") }
      states[ByteText(key)] = state
    }
    if end < bytes.count { try truncate(to: end) }
  }

  private func append(_ line: String) throws {
    try system { () throws(SystemError) in
      try FileDescriptor.write(Array(line.utf8) + [0x0A], to: descriptor)
      guard fdatasync(descriptor) == 0 else { throw SystemError(errno) }
    }
  }

  private func truncate(to length: Int) throws {
    try system { () throws(SystemError) in
      guard ftruncate(descriptor, length) == 0 else { throw SystemError(errno) }
    }
  }

  private func system<Value>(_ body: () throws(SystemError) -> Value) throws -> Value {
    do throws(SystemError) { return try body() } catch { throw unusable(error) }
  }

  private func refusal(_ exit: RunExit, _ problem: String) -> CommandError {
    CommandError(exit, "\(path.printable): error: \(problem)")
  }

  private func unusable(_ error: SystemError) -> CommandError { refusal(.cannotWrite, "cannot be used: \(error)") }

  /// The error for a different kind of file at the path.
  private var isNone: CommandError {
    refusal(.configuration, "not an xmlapi ledger, so it was left unchanged; name a new file")
  }
}
