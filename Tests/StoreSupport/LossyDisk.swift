import BatchFoundation
import FoundationEssentials
import Glibc

/// A disk that the files of a folder are on which SQLite has open, until the power is cut: what was written and not synced is then lost,
/// whole or by sectors, whatever was written after it.
///
/// SQLite goes on working with the files themselves, so a store does not know of it. Beside them the disk keeps what a cut would leave.
/// That files were made or removed is never lost.
package final class LossyDisk: Sendable {
  /// How much a cut loses.
  package enum Loss: CaseIterable, Sendable {
    /// The process was killed, and the machine goes on: what was written is there.
    case nothing
    /// Each write, or each of its sectors, is there or not.
    case some
    case everything
  }

  /// What SQLite is told of an operation.
  enum Answer {
    case done
    /// There is no power.
    case off
    case full
  }

  enum Write {
    case bytes([UInt8], at: Int)
    case size(Int)
  }

  private struct State {
    var files: [String: LossyFile] = [:]
    /// Writes, truncations and syncs since the last start.
    var operations = 0
    var planned: (operation: Int, loss: Loss)?
    /// From this operation on there is no room.
    var full: Int?
    /// Whether a write found no room.
    var hasRefused = false
    /// What a cut left, by path; nil while there is power.
    var remains: [String: [UInt8]]?
    var random: SplitMix64

    mutating func cut(losing loss: Loss) {
      guard remains == nil else { return }
      var left: [String: [UInt8]] = [:]
      for (path, file) in files.sorted(by: { $0.key < $1.key }) {
        left[path] = file.remains(losing: loss, using: &random)
      }
      remains = left
    }

    mutating func step() -> Answer {
      if let planned, planned.operation == operations { cut(losing: planned.loss) }
      operations += 1
      return remains == nil ? .done : .off
    }
  }

  let folder: String
  private let state: Guarded<State>

  /// - Parameter folder: whose files are on it; SQLite must not have any of them open.
  package init(_ folder: String, seed: UInt64) {
    self.folder = folder
    state = Guarded(State(random: SplitMix64(seed: seed)))
    DiskLayer.add(self)
  }

  package var operations: Int { state.withLock { $0.operations } }

  package var isCut: Bool { state.withLock { $0.remains != nil } }

  /// Cuts the power instead of the operation of this number, from 0, counted from the last start.
  package func cut(at operation: Int, losing loss: Loss) { state.withLock { $0.planned = (operation, loss) } }

  /// Lets every write find the disk full from the operation of this number on, counted from the last start, until the next.
  package func fill(at operation: Int) { state.withLock { $0.full = operation } }

  /// Whether a write has found it full since the last start.
  package var isFull: Bool { state.withLock { $0.hasRefused } }

  /// Cuts the power now.
  package func cut(losing loss: Loss) { state.withLock { $0.cut(losing: loss) } }

  /// Brings the files to what a cut left of them, if there was one, and starts again. SQLite must have closed them.
  package func start() throws {
    let remains = state.withLock { state in
      defer { state = State(random: state.random) }
      return state.remains
    }
    guard let remains else { return }
    for (path, bytes) in remains {
      // In its place, because a store is known by its inode.
      let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw SystemError(errno) }
      defer { close(descriptor) }
      guard unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else { throw SystemError(errno) }
    }
    // The memory that SQLite shares died with the process.
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix("-shm") {
      try FileManager.default.removeItem(atPath: folder + "/" + name)
    }
  }

  // MARK: What SQLite does

  func opened(_ path: String) {
    state.withLock { state in
      guard state.files[path] == nil, state.remains == nil else { return }
      // A file that is not there yet is empty.
      let bytes = (try? Data(contentsOf: URL(filePath: path))).map { Array($0) } ?? []
      state.files[path] = LossyFile(synced: bytes)
    }
  }

  func removed(_ path: String) { state.withLock { if $0.remains == nil { $0.files[path] = nil } } }

  func take(_ write: Write, to path: String) -> Answer {
    state.withLock { state in
      let answer = state.step()
      guard answer == .done else { return answer }
      if case .bytes = write, let full = state.full, state.operations > full {
        state.hasRefused = true
        return .full
      }
      state.files[path]?.pending.append(write)
      return .done
    }
  }

  func sync(_ path: String) -> Answer {
    state.withLock { state in
      let answer = state.step()
      if answer == .done { state.files[path]?.sync() }
      return answer
    }
  }
}

/// What is on the disk for sure, and what was written since.
private struct LossyFile {
  private static let sector = 512

  var synced: [UInt8]
  var pending: [LossyDisk.Write] = []

  mutating func sync() {
    for write in pending { Self.apply(write, to: &synced) }
    pending = []
  }

  func remains(losing loss: LossyDisk.Loss, using random: inout SplitMix64) -> [UInt8] {
    var bytes = synced
    for write in pending {
      switch loss {
      case .nothing: Self.apply(write, to: &bytes)
      case .everything: break
      case .some: Self.applyPart(of: write, to: &bytes, using: &random)
      }
    }
    return bytes
  }

  private static func apply(_ write: LossyDisk.Write, to file: inout [UInt8]) {
    switch write {
    case .bytes(let bytes, let offset):
      if file.count < offset + bytes.count {
        file += Array(repeating: 0, count: offset + bytes.count - file.count)
      }
      file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    case .size(let size):
      if size < file.count {
        file.removeLast(file.count - size)
      } else {
        file += Array(repeating: 0, count: size - file.count)
      }
    }
  }

  private static func applyPart(of write: LossyDisk.Write, to file: inout [UInt8], using random: inout SplitMix64) {
    let fate = Int.random(in: 0..<3, using: &random)
    guard case .bytes(let bytes, let offset) = write, fate == 2 else {
      if fate == 1 { apply(write, to: &file) }
      return
    }
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, (offset + start) / sector * sector + sector - offset)
      if Bool.random(using: &random) { apply(.bytes(Array(bytes[start..<end]), at: offset + start), to: &file) }
      start = end
    }
  }
}
