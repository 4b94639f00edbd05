import BatchFoundation
import BatchPipeline
import FoundationEssentials
import Glibc

/// The operations on stdin. All are checked before the first is sent. They are kept in an unnamed file, so memory does
/// not limit their number.
final class OperationInput {
  private static let longestLine = 1 << 20
  private static let shownFaults = 20

  private let copy: Int32

  /// - Throws: ``CommandError`` if lines are invalid or there are none; also errors from reading and from the
  ///   temporary file.
  init(_ source: Int32 = STDIN_FILENO) throws {
    let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let copy = try OutputError.at(folder) { () throws(SystemError) in try TemporaryPath.unnamedFile(in: folder) }
    self.copy = copy
    var reader = OperationReader()
    var faults: [CommandError] = []
    var count = 0
    try Self.forEachLine(of: source) { line in
      do throws(CommandError) {
        if try reader.read(line) != nil { count += 1 }
      } catch {
        count += 1
        if faults.count < Self.shownFaults { faults.append(error) }
      }
      try OutputError.at(folder) { () throws(SystemError) in try FileDescriptor.write(line + [0x0A], to: copy) }
    }
    guard faults.isEmpty else {
      throw CommandError(
        .inputRefused, (faults.map(\.description) + ["nothing was sent"]).joined(separator: "\n"))
    }
    guard count > 0 else { throw CommandError(.noInput, "stdin: error: there are no operations") }
  }

  deinit { close(copy) }

  func forEach(_ body: (OperationRecord) throws -> Void) throws {
    guard lseek(copy, 0, SEEK_SET) == 0 else { throw Self.unreadable(SystemError(errno)) }
    var reader = OperationReader()
    try Self.forEachLine(of: copy) { line in
      if let record = try reader.read(line) { try body(record) }
    }
  }

  private static func forEachLine(of descriptor: Int32, _ body: ([UInt8]) throws -> Void) throws {
    var rest: [UInt8] = []
    do {
      try unsafe FileDescriptor.forEachPiece(of: descriptor, atMost: 1 << 16) { piece in
        unsafe rest += piece
        var start = 0
        while let end = rest[start...].firstIndex(of: 0x0A) {
          try body(Array(rest[start..<end]))
          start = end + 1
        }
        rest.removeFirst(start)
        guard rest.count <= longestLine else {
          throw CommandError(.inputRefused, "stdin: error: a line is longer than 1 MiB; nothing was sent")
        }
      }
    } catch let error as SystemError {
      throw unreadable(error)
    }
    if !rest.isEmpty { try body(rest) }
  }

  private static func unreadable(_ error: SystemError) -> CommandError {
    CommandError(.inputOutput, "stdin: error: cannot be read: \(error)")
  }
}
