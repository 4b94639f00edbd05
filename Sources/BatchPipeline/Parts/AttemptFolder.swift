import BatchFoundation
internal import CLinux
import FoundationEssentials
import Glibc

/// A folder that is filled under a temporary name next to its final path and renamed when complete. A folder with the
/// final name is therefore always complete, even if several attempts run concurrently or one is killed.
///
/// An attempt that is not published removes its folder. The next attempt in the same parent folder removes the
/// `.engage-batch-…` folder of a killed attempt.
final class AttemptFolder {
  /// The final path.
  let place: String
  private let folder: TemporaryFolder

  /// The temporary path, used while the folder is filled.
  var path: String { folder.path }

  /// - Throws: ``OutputError``.
  init(for place: String) throws {
    self.place = place
    try OutputFolder.make(for: place)
    folder = try TemporaryFolder(below: PathText.folder(of: place), prefix: ".engage-batch-", for: place)
  }

  /// Makes all files durable and gives the folder its final name.
  ///
  /// - Returns: false if the name is already taken; the existing file or folder is left unchanged.
  /// - Throws: ``OutputError``.
  func publish() throws -> Bool {
    try named {
      if unsafe rename(path, place) == 0 { return true }
      guard [EEXIST, ENOTEMPTY, ENOTDIR].contains(errno) else { throw SystemError(errno) }
      return false
    }
  }

  /// Makes all files durable and atomically exchanges the folder with the existing one, which is then removed.
  ///
  /// - Throws: ``OutputError``.
  func replace() throws {
    _ = try named {
      guard unsafe engage_exchange(path, place) == 0 else { throw SystemError(errno) }
      return true
    }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw OutputError(path: path, code: EIO)
    }
  }

  /// Makes all files durable and, if `rename` returns true, their new place.
  private func named(_ rename: () throws -> Bool) throws -> Bool {
    do {
      for name in try FileManager.default.contentsOfDirectory(atPath: path) { try Self.sync("\(path)/\(name)") }
      try Self.sync(path)
      guard try rename() else { return false }
      try Self.sync(PathText.folder(of: place))
      return true
    } catch let error as SystemError {
      throw OutputError(path: place, code: error.code)
    }
  }

  /// Removes an intermediate file.
  func remove(_ name: String) throws {
    guard unsafe unlink("\(path)/\(name)") == 0 else { throw OutputError(path: "\(path)/\(name)", code: errno) }
  }

  /// Adds a file that will not change, as a hard link if the file system allows that, otherwise as a copy.
  func take(_ path: String, as name: String) throws {
    let path = try OutputError.at(path) { () throws(SystemError) in try PathText.resolvingLinks(path) }
    if unsafe link(path, "\(self.path)/\(name)") != 0 { _ = try copy(path, to: name) }
  }

  /// Adds a finished file like ``take(_:as:)``, and returns its length and checksum.
  func adopt(_ path: String, as name: String) throws -> (bytes: UInt64, sum: String) {
    guard unsafe link(path, "\(self.path)/\(name)") == 0 else { return try copy(path, to: name) }
    return try PartDocument.sum(of: path)
  }

  private func copy(_ path: String, to name: String) throws -> (bytes: UInt64, sum: String) {
    let file = try AttemptFile(name, in: self)
    try unsafe PartDocument.read(path) { try unsafe file.write($0.bindMemory(to: UInt8.self)) }
    let sum = try file.finish()
    return (file.byteCount, sum)
  }

  /// Writes the document that describes the folder.
  func write(_ document: some Encodable, as name: String) throws {
    let file = try AttemptFile(name, in: self)
    try unsafe PartDocument.text(document).withUnsafeBufferPointer { try unsafe file.write($0) }
    _ = try file.finish()
  }

  private static func sync(_ path: String) throws(SystemError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError(errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemError(errno) }
  }
}

/// A file of an attempt, written sequentially, with its checksum.
final class AttemptFile {
  /// The size of a write in bytes: many whole pages, which file systems handle best.
  private static let unit = 1 << 17

  private let path: String
  private let descriptor: Int32
  private var buffer = ByteBuffer(capacity: unit)
  private var sum = CopySum()
  private(set) var byteCount: UInt64 = 0

  /// - Throws: ``OutputError``.
  init(_ name: String, in folder: AttemptFolder) throws {
    path = "\(folder.path)/\(name)"
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw OutputError(path: path, code: errno) }
  }

  deinit { close(descriptor) }

  func write(_ bytes: UnsafeBufferPointer<UInt8>) throws {
    unsafe sum.update(UnsafeRawBufferPointer(bytes))
    try unsafe put(bytes)
  }

  /// Writes bytes that the file's checksum does not cover.
  func put(_ bytes: UnsafeBufferPointer<UInt8>) throws {
    byteCount += UInt64(bytes.count)
    var rest = unsafe bytes[...]
    while unsafe buffer.count + rest.count >= Self.unit {
      let head = unsafe rest.prefix(Self.unit - buffer.count)
      unsafe buffer.append(UnsafeBufferPointer(rebasing: head))
      unsafe rest = rest.dropFirst(head.count)
      try flush()
    }
    unsafe buffer.append(UnsafeBufferPointer(rebasing: rest))
  }

  /// Completes the file and returns its ``CopySum`` in hexadecimal. Nothing may be written afterwards.
  func finish() throws -> String {
    try flush()
    return Hexadecimal.text(of: sum.finalize())
  }

  private func flush() throws {
    defer { buffer.removeAll() }
    try OutputError.at(path) { () throws(SystemError) in
      try unsafe FileDescriptor.write(UnsafeRawBufferPointer(buffer.bytes), to: descriptor)
    }
  }
}
