import BatchFoundation
import GRDB
import Glibc

extension EventStore {
  /// Copies all that is committed to a new file, page by page in one reading transaction; whoever writes meanwhile goes on.
  ///
  /// - Parameter path: where nothing stands; the copy gets this name once its pages and rows were found whole.
  /// - Returns: the bytes of the copy.
  /// - Throws: ``StoreError``.
  package func backUp(to path: String) throws -> Int {
    let place = try StoreFile(path)
    guard try StoreFile.status(place.path, path) == nil else { throw StoreError.exists(path: path) }
    let draft: String
    do {
      let descriptor: Int32
      (draft, descriptor) = try TemporaryPath.file("\(PathText.folder(of: place.path))/.engage-batch-")
      Glibc.close(descriptor)
    } catch {
      throw StoreError.inputOutput(path: path, operation: "create", code: error.code)
    }
    defer { for end in ["", "-wal", "-shm", "-journal"] { unsafe unlink(draft + end) } }
    try StoreError.translating(path) {
      let copy = try DatabaseQueue(path: draft)
      let result = Result { try connection.queue.backup(to: copy) }
      try copy.close()
      try result.get()
    }
    let copy = try EventStore.openReading(draft, format: connection.format)
    var damage: StoreDamage?
    try copy.check { if damage == nil { damage = $0 } }
    try copy.close()
    if let damage { throw StoreError.damaged(path: connection.path, detail: damage.problem) }
    do {
      // SQLite made the copy durable.
      let size = try FileStatus.at(draft)?.size ?? 0
      try DraftFile.name(draft, as: place.path)
      return Int(size)
    } catch {
      throw StoreError.inputOutput(path: path, operation: "create", code: error.code)
    }
  }
}
