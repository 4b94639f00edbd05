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

  /// - Throws: ``OperationInputError`` if lines are invalid or there are none; also errors from reading and from the
  ///   temporary file.
  init(_ source: Int32 = STDIN_FILENO) throws {
    let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let copy = try OutputError.at(folder) { () throws(SystemError) in try TemporaryPath.unnamedFile(in: folder) }
    self.copy = copy
    var reader = OperationReader()
    var faults: [OperationLineFault] = []
    var count = 0
    try Self.forEachLine(of: source) { line in
      do throws(OperationLineFault) {
        if try reader.read(line) != nil { count += 1 }
      } catch {
        count += 1
        if faults.count < Self.shownFaults { faults.append(error) }
      }
      try OutputError.at(folder) { () throws(SystemError) in try FileDescriptor.write(line + [0x0A], to: copy) }
    }
    guard faults.isEmpty else { throw OperationInputError.faults(faults) }
    guard count > 0 else { throw OperationInputError.isEmpty }
  }

  deinit { close(copy) }

  /// Passes every operation to `body`, in order.
  func forEach(_ body: (OperationRecord) throws -> Void) throws {
    guard lseek(copy, 0, SEEK_SET) == 0 else { throw OperationInputError.unreadable(errno) }
    var reader = OperationReader()
    try Self.forEachLine(of: copy) { line in
      if let record = try reader.read(line) { try body(record) }
    }
  }

  private static func forEachLine(of descriptor: Int32, _ body: ([UInt8]) throws -> Void) throws {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { unsafe piece.deallocate() }
    var rest: [UInt8] = []
    while true {
      let count: Int
      do throws(SystemError) {
        count = try unsafe FileDescriptor.read(descriptor, into: piece)
      } catch {
        throw OperationInputError.unreadable(error.code)
      }
      guard count > 0 else { break }
      unsafe rest += piece[..<count]
      var start = 0
      while let end = rest[start...].firstIndex(of: 0x0A) {
        try body(Array(rest[start..<end]))
        start = end + 1
      }
      rest.removeFirst(start)
      guard rest.count <= longestLine else { throw OperationInputError.lineTooLong }
    }
    if !rest.isEmpty { try body(rest) }
  }
}

/// The error thrown if the input is not a series of operations; nothing was sent.
enum OperationInputError: RunError, Equatable, CustomStringConvertible {
  case faults([OperationLineFault])
  case isEmpty
  case lineTooLong
  case unreadable(Int32)

  var exit: RunExit {
    switch self {
    case .faults, .lineTooLong: .inputRefused
    case .isEmpty: .noInput
    case .unreadable: .inputOutput
    }
  }

  var description: String {
    switch self {
    case .faults(let faults): (faults.map(\.description) + ["nothing was sent"]).joined(separator: "\n")
    case .isEmpty: "stdin: error: there are no operations"
    case .lineTooLong: "stdin: error: a line is longer than 1 MiB; nothing was sent"
    case .unreadable(let code): unsafe "stdin: error: cannot be read: \(String(cString: strerror(code)))"
    }
  }
}
