import BatchFoundation
import FoundationEssentials
import Glibc

/// Reads, writes and proves the files of partitions and results.
enum PartDocument {
  /// What a count may be: many of them still add up.
  static let counts = 0...(1 << 48)

  static func text(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return Array(try encoder.encode(value)) + [0x0A]
  }

  /// What a folder says of itself, and the SHA-256 of that.
  ///
  /// - Throws: ``PartsError``.
  static func load<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> (value: Value, identity: String) {
    let bytes = try read(path)
    do {
      return (try JSONDecoder().decode(type, from: Data(bytes)), Hexadecimal.text(of: SHA256.hash(bytes)))
    } catch {
      throw PartsError(path: path, problem: "not as a partition or a decision writes it")
    }
  }

  /// A manifest names each input; more is none that this program wrote.
  private static let largest = 256 << 20

  /// - Throws: ``PartsError`` where there is none.
  static func read(_ path: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      if let status = try FileStatus.at(path), status.kind == .file, status.size > largest { throw tooLarge(path) }
      try unsafe read(path) {
        guard bytes.count + $0.count <= largest else { throw tooLarge(path) }
        unsafe bytes += $0
      }
    } catch let error as SystemError {
      throw unreadable(path, error)
    }
    return bytes
  }

  private static func unreadable(_ path: String, _ error: SystemError) -> PartsError {
    PartsError(path: path, problem: "cannot be read: \(error)", isMissing: error.code == ENOENT)
  }

  private static func tooLarge(_ path: String) -> PartsError {
    PartsError(path: path, problem: "it has more than \(largest >> 20) MiB, and no partition or decision writes that")
  }

  /// Compares length and digest of a file.
  ///
  /// - Throws: ``DamagedCopyError``, ``PartsError``.
  static func prove(_ path: String, bytes: UInt64, sha256: String) throws {
    try unsafe prove(path, bytes: bytes, sha256: sha256) { _ in }
  }

  /// The same, of so many bytes from `start` where there is one, while somebody gets the bytes before they are proved.
  ///
  /// - Throws: ``DamagedCopyError``, ``PartsError``, or what `take` threw.
  static func prove(
    _ path: String, from start: UInt64? = nil, bytes: UInt64, sha256: String,
    _ take: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var (hash, count) = (SHA256(), UInt64(0))
    do {
      try unsafe read(path, from: start ?? 0, most: start == nil ? .max : bytes) {
        unsafe hash.update($0)
        count += UInt64($0.count)
        try unsafe take($0)
      }
    } catch let error as SystemError {
      throw unreadable(path, error)
    }
    guard count == bytes, Hexadecimal.text(of: hash.finalize()).utf8.elementsEqual(sha256.utf8) else {
      throw DamagedCopyError(path: path)
    }
  }

  /// A copy that only its owner can read.
  static func copy(_ path: String, to target: String) throws {
    try unsafe fill(target) { write in
      do {
        try unsafe read(path, write)
      } catch let error as SystemError {
        throw unreadable(path, error)
      }
    }
  }

  /// Makes a file that only its owner can read, of what `body` writes.
  static func fill(_ target: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
    let descriptor = unsafe open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw OutputError(path: target, code: errno) }
    defer { close(descriptor) }
    try unsafe body { bytes in
      do throws(SystemError) {
        try unsafe FileDescriptor.write(bytes, to: descriptor)
      } catch {
        throw OutputError(path: target, code: error.code)
      }
    }
  }

  static func read(
    _ path: String, from start: UInt64 = 0, most: UInt64 = .max, _ take: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    // A pipe that nobody fills, and a device that has no end, would keep whoever waits for them from hearing a signal.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw SystemError(errno) }
    defer { close(descriptor) }
    let kind = try FileStatus.of(descriptor).kind
    guard kind == .file else {
      throw PartsError(path: path, problem: "it is \(kind.rawValue), and has to be a file")
    }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { unsafe piece.deallocate() }
    guard lseek(descriptor, Int(clamping: start), SEEK_SET) >= 0 else { throw SystemError(errno) }
    var left = most
    while left > 0 {
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: piece[..<Int(min(left, UInt64(piece.count)))])
      let count = try unsafe FileDescriptor.read(descriptor, into: room)
      guard count > 0 else { return }
      try unsafe take(UnsafeRawBufferPointer(rebasing: room[..<count]))
      left -= UInt64(count)
    }
  }
}
