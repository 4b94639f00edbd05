import BatchFoundation

/// Reads a file in ranges, several concurrently, in bounded memory.
final class ObjectReader: RemoteReader {
  /// The maximum number of ranges requested but not yet read.
  private static let ahead = 6

  private let file: RemoteFile
  private let storage: ObjectStorage
  /// The size of a range, in bytes. Every range waits for its first byte, so those of a large file are larger.
  private let rangeBytes: UInt64
  /// The ranges that arrived, by number.
  private let arrived = Guarded<[Int: Result<[UInt8], any Error>]>([:])
  private let cancellation = HTTPCancellation()
  private var requested = 0
  /// The number of ranges taken; the last of them is ``range``.
  private var taken = 0
  private var range: ArraySlice<UInt8> = []

  init(_ file: RemoteFile, _ storage: ObjectStorage) {
    (self.file, self.storage) = (file, storage)
    rangeBytes = file.size > 64 << 20 ? 4 << 20 : 2 << 20
  }

  deinit { cancellation.cancel() }

  func read(into buffer: UnsafeMutableRawBufferPointer, idle: () throws -> Void) throws -> Int {
    if range.isEmpty {
      try request()
      guard taken < requested else { return 0 }
      range = try next(idle)[...]
      taken += 1
    }
    let count = min(buffer.count, range.count)
    unsafe range.withUnsafeBytes { bytes in
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
    range = range.dropFirst(count)
    return count
  }

  /// Requests the ranges that are due, each on a separate thread that ends with the request.
  func request() throws {
    while requested < taken + Self.ahead, UInt64(requested) * rangeBytes < file.size {
      let number = requested
      let start = UInt64(number) * rangeBytes
      let range = start..<min(start + rangeBytes, file.size)
      let (file, storage, arrived, cancellation) = (file, storage, arrived, cancellation)
      try Threads.detach {
        let bytes = Result { try storage.bytes(range, of: file, cancellation) }
        arrived.change { $0[number] = bytes }
      }
      requested += 1
    }
  }

  private func next(_ idle: () throws -> Void) throws -> [UInt8] {
    while true {
      if let bytes = arrived.wait(upTo: 200, { $0.removeValue(forKey: self.taken) }) { return try bytes.get() }
      try idle()
    }
  }
}
