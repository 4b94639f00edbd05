import BatchFoundation
import Glibc

/// Blocks in the order of their events, returned one at a time.
package struct BlockSequence {
  package let next: () throws -> [UInt8]?

  /// - Parameter next: returns the next block; nil after the last.
  package init(next: @escaping () throws -> [UInt8]?) { self.next = next }
}

/// The blocks of a run that keeps nothing, in a file without a name that disappears with the process.
package final class EventSpool: Sendable {
  private struct State {
    var size = 0
    var series: [[Place]] = []
  }

  private struct Place {
    var offset: Int
    var length: Int
  }

  private let descriptor: Int32
  private let state = Guarded(State())

  /// - Parameter folder: the folder of the file, usually `TMPDIR` or `/tmp`.
  /// - Throws: ``StoreError/inputOutput(path:operation:code:)``.
  package init(folder: String) throws {
    do throws(SystemError) {
      descriptor = try TemporaryPath.unnamedFile(in: folder)
    } catch {
      throw StoreError.inputOutput(path: folder, operation: "create", code: error.code)
    }
  }

  deinit { Glibc.close(descriptor) }

  /// Adds sorted events as a new sequence.
  package func append(_ blocks: EventBlocks) throws { try append(blocks, to: beginSeries()) }

  /// Adds a sorted sequence with each block replaced by its change; nil keeps the block.
  package func append(_ sequence: BlockSequence, changing change: ([UInt8]) throws -> EventBlocks?) throws {
    let series = beginSeries()
    while let block = try sequence.next() {
      // A spool keeps only the place of an entry.
      let same = EventBlocks.Entry(
        offset: 0, length: block.count, events: 0, expired: 0, first: .last, last: .last, bodyBytes: 0)
      try append(change(block) ?? EventBlocks(bytes: block, entries: [same]), to: series)
    }
  }

  /// Begins a new sequence, and returns its number.
  func beginSeries() -> Int {
    state.withLock { state in
      state.series.append([])
      return state.series.count - 1
    }
  }

  /// Adds events that follow all others of the sequence.
  func append(_ blocks: EventBlocks, to series: Int) throws {
    guard !blocks.entries.isEmpty else { return }
    let descriptor = descriptor
    try state.withLock { state in
      try unsafe blocks.bytes.withUnsafeBytes { bytes in
        var done = 0
        while done < bytes.count {
          let count = unsafe pwrite(
            descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done, state.size + done)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else {
            throw StoreError.inputOutput(path: "spool file", operation: "write", code: errno)
          }
          done += count
        }
      }
      let base = state.size
      state.series[series] += blocks.entries.map { Place(offset: base + $0.offset, length: $0.length) }
      state.size += blocks.bytes.count
    }
  }

  package func sequences() -> [BlockSequence] {
    let series = state.withLock { $0.series }
    return series.map { places in
      var index = 0
      return BlockSequence {
        guard index < places.count else { return nil }
        index += 1
        return try self.read(places[index - 1])
      }
    }
  }

  private func read(_ place: Place) throws -> [UInt8] {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: place.length) { buffer, count in
      while count < place.length {
        let got = unsafe pread(
          descriptor, buffer.baseAddress.map { unsafe $0 + count }, place.length - count, place.offset + count)
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { return }
        count += got
      }
    }
    guard bytes.count == place.length else {
      throw StoreError.inputOutput(path: "spool file", operation: "read", code: errno)
    }
    return bytes
  }
}
