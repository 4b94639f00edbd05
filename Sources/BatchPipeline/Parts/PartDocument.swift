package import BatchFoundation
import BatchIngest
import FoundationEssentials
import Glibc

enum PartDocument {
  /// The valid range of a count, small enough that sums of many counts do not overflow.
  static let counts = 0...(1 << 48)

  static func text(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return Array(try encoder.encode(value)) + [0x0A]
  }

  /// Returns the document in a file, and its SHA-256 in hexadecimal.
  ///
  /// - Throws: ``PartsError``.
  static func load<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> (value: Value, identity: String) {
    let bytes = try read(path)
    do {
      return (try JSONDecoder().decode(type, from: Data(bytes)), Hexadecimal.text(of: SHA256.hash(bytes)))
    } catch {
      throw PartsError(path: path, problem: "it is not in the format that 'partition' and 'decide' write")
    }
  }

  /// The maximum size of a document in bytes. The largest one is a manifest, which names each input.
  private static let largest = 256 << 20

  /// - Throws: ``PartsError`` if the file cannot be read or is too large.
  static func read(_ path: String) throws -> [UInt8] {
    do {
      return try RegularFile.read(path, largest: largest)
    } catch {
      switch error {
      case .system(let error): throw unreadable(path, error)
      case .notAFile(let kind): throw notAFile(path, kind)
      case .tooLarge:
        throw PartsError(path: path, problem: "it exceeds \(largest >> 20) MiB, the maximum size of such a file")
      }
    }
  }

  private static func unreadable(_ path: String, _ error: SystemError) -> PartsError {
    PartsError(path: path, problem: "cannot be read: \(error)", isMissing: error.code == ENOENT)
  }

  private static func notAFile(_ path: String, _ kind: FileStatus.Kind) -> PartsError {
    PartsError(path: path, problem: "it is \(kind.rawValue), but must be a file")
  }

  /// Returns the length of a readable file.
  ///
  /// - Throws: ``PartsError``.
  static func size(of path: String) throws -> UInt64 {
    do {
      let descriptor = try openFile(path)
      defer { close(descriptor) }
      return UInt64(try FileStatus.of(descriptor).size)
    } catch let error as SystemError {
      throw unreadable(path, error)
    }
  }

  /// Verifies the length and ``CopySum`` of a file.
  ///
  /// - Throws: `CommandError.damagedCopy`, ``PartsError``.
  static func prove(_ path: String, bytes: UInt64, sum: String) throws {
    do {
      let found = try self.sum(of: path)
      guard found.bytes == bytes, found.sum.utf8.elementsEqual(sum.utf8) else { throw CommandError.damagedCopy(path) }
    } catch let error as SystemError {
      throw unreadable(path, error)
    }
  }

  /// Returns the length and the ``CopySum`` of a file, the sum in hexadecimal.
  static func sum(of path: String) throws -> (bytes: UInt64, sum: String) {
    var (sum, count) = (CopySum(), UInt64(0))
    try unsafe read(path) {
      unsafe sum.update($0)
      count += UInt64($0.count)
    }
    return (count, Hexadecimal.text(of: sum.finalize()))
  }

  /// Copies a file so that only its owner can read the copy.
  static func copy(_ path: String, to target: String) throws {
    let descriptor = unsafe open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw OutputError(path: target, code: errno) }
    defer { close(descriptor) }
    do {
      try unsafe read(path) { bytes in
        try OutputError.at(target) { () throws(SystemError) in try unsafe FileDescriptor.write(bytes, to: descriptor) }
      }
    } catch let error as SystemError {
      throw unreadable(path, error)
    }
  }

  static func read(_ path: String, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
    let descriptor = try openFile(path)
    defer { close(descriptor) }
    try unsafe FileDescriptor.forEachPiece(of: descriptor, atMost: 1 << 18, take)
  }

  private static func openFile(_ path: String) throws -> Int32 {
    // A pipe without a writer, or an endless device, would keep the process from handling signals.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw SystemError(errno) }
    do {
      let kind = try FileStatus.of(descriptor).kind
      guard kind == .file else { throw notAFile(path, kind) }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }
}

/// The error for partitions, parts and results that are unreadable or do not belong together (reference formats 5).
package struct PartsError: RunError, Equatable, CustomStringConvertible {
  package var path: String
  package var problem: String
  var isMissing = false

  /// Returns the error for a folder that would replace another one.
  static func occupied(_ path: String) -> PartsError {
    PartsError(path: path, problem: "it already exists; choose another folder, or remove it")
  }

  package var exit: RunExit { isMissing ? .noInput : .configuration }

  package var description: String { "\(path.printable): error: \(problem)" }
}

extension [Int] {
  var listed: String {
    prefix(20).map(String.init).joined(separator: ", ") + (count > 20 ? " and more" : "")
  }
}
