package import BatchFoundation
package import BatchStore
import Glibc

/// The copy of a store in a bucket.
///
/// A file next to the store, `<store>.copy`, contains the address and entity tag of the copy that the store
/// was last written to or read from. Only that object is replaced. If two processes continue from the same
/// copy, the second one therefore changes nothing.
package struct StoreCopy {
  package let address: String
  /// The path of the store.
  package let store: String
  private let storage: any RemoteStorage
  private let interruption: Interruption

  package init(
    _ address: String, of store: String, in storage: any RemoteStorage, interruption: Interruption = Interruption()
  ) {
    (self.address, self.store, self.storage, self.interruption) = (address, store, storage, interruption)
  }

  /// Copies a store to a temporary file next to it, checks the copy and writes it to the bucket.
  ///
  /// - Returns: the size in bytes.
  /// - Throws: ``RemoteConflict`` if the object is not the last copy; ``StoreError``; errors of the storage.
  package func write(_ present: EventStore) throws -> Int {
    let writer = try storage.writer(
      of: address, if: known.map(RemoteCondition.object) ?? .nothing, check: interruption.check)
    let folder = try TemporaryFolder(below: PathText.folder(of: store), prefix: Self.prefix)
    let path = folder.path + "/store"
    let bytes = try present.backUp(to: path)
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    try unsafe FileDescriptor.forEachPiece(of: file, atMost: 1 << 20) { try unsafe writer.write($0) }
    try note(writer.finish())
    return bytes
  }

  /// Copies the object to a new store.
  ///
  /// - Returns: the size in bytes.
  /// - Throws: ``StoreError`` if the store's path exists or the object is not an intact store; errors of the storage.
  package func read(of platforms: Platforms) throws -> Int {
    try NewFile.refuse(at: store)
    try OutputFolder.make(for: store)
    let folder = try TemporaryFolder(below: PathText.folder(of: store), prefix: Self.prefix)
    let path = folder.path + "/store"
    let draft = try OutputFile(path)
    let object = try unsafe storage.read(address) { bytes in
      try interruption.check()
      try unsafe draft.write(bytes)
    }
    guard let object else { throw StoreError.missing(path: address) }
    try draft.finish()
    let copy = try platforms.openReading(path).store
    let bytes = try copy.backUp(to: store)
    try copy.close()
    try note(object.tag)
    return bytes
  }

  private static let prefix = ".engage-batch-copy-"

  private var place: String { store + ".copy" }

  /// The entity tag of the last copy; nil if that was at another address, or if there is none.
  private var known: String? {
    // Without a readable note, the object must not exist.
    guard let bytes = try? RegularFile.read(place) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    return lines.count == 2 && lines[0].utf8.elementsEqual(address.utf8) ? String(lines[1]) : nil
  }

  private func note(_ tag: String?) throws {
    try OutputFile.write("\(address)\n\(tag ?? "")\n", to: place)
  }
}
