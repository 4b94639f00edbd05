import BatchFoundation

/// Reads a file in ranges, several concurrently, in bounded memory.
final class ObjectReader: RemoteReader {
  /// The ranges that have arrived, by their numbers in the file.
  private struct Pieces {
    var arrived: [Int: Result<[UInt8], any Error>] = [:]
    var isStopped = false
  }

  /// The size of a range, in bytes.
  private static let pieceBytes: UInt64 = 2 << 20
  /// The maximum number of ranges requested but not yet read.
  private static let ahead = 4

  private let file: RemoteFile
  private let storage: ObjectStorage
  private let pieces = Guarded(Pieces())
  /// The number of ranges requested.
  private var requested = 0
  /// The number of ranges taken; the last of them is ``piece``.
  private var taken = 0
  private var piece: ArraySlice<UInt8> = []

  init(_ file: RemoteFile, _ storage: ObjectStorage) { (self.file, self.storage) = (file, storage) }

  deinit { pieces.withLock { $0.isStopped = true } }

  func read(into buffer: UnsafeMutableRawBufferPointer, idle: () throws -> Void) throws -> Int {
    if piece.isEmpty {
      guard UInt64(taken) * Self.pieceBytes < file.size else { return 0 }
      try request()
      piece = try next(idle)[...]
      taken += 1
    }
    let count = min(buffer.count, piece.count)
    unsafe piece.withUnsafeBytes { bytes in
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
    piece = piece.dropFirst(count)
    return count
  }

  /// Requests the ranges that are due, each on a separate thread that ends with the request.
  private func request() throws {
    while requested < taken + Self.ahead, UInt64(requested) * Self.pieceBytes < file.size {
      let number = requested
      let start = UInt64(number) * Self.pieceBytes
      let range = start..<min(start + Self.pieceBytes, file.size)
      let (file, storage, pieces) = (file, storage, pieces)
      try Threads.detach {
        let bytes = Result {
          try storage.bytes(range, of: file) { pieces.withLock(\.isStopped) }
        }
        pieces.change { $0.arrived[number] = bytes }
      }
      requested += 1
    }
  }

  private func next(_ idle: () throws -> Void) throws -> [UInt8] {
    while true {
      let arrived = pieces.wait(upTo: 200) { $0.arrived.removeValue(forKey: self.taken) }
      if let arrived { return try arrived.get() }
      try idle()
    }
  }
}
