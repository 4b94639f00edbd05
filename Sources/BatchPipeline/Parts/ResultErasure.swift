package import BatchFoundation
import BatchIngest
package import BatchStore

/// Removes people from the results of parts, because the next night continues the states in them.
///
/// Each result is changed as a temporary copy, which replaces the original when it is complete. The result keeps its
/// partition and part, so the chain continues. Runs that continue it refuse later records of these people.
package struct ResultErasure: Sendable {
  private let folders: [ResultFolder]
  private let platform: any Platform
  private let temporaryFolder: String

  /// - Throws: ``PartsError``, `CommandError.damagedCopy`.
  package init(_ folders: [String], _ request: RunRequest) throws {
    platform = request.platform
    temporaryFolder = request.ingestOptions.temporaryFolder
    self.folders = try folders.map { try ResultFolder($0) }
    for folder in self.folders {
      guard folder.result.destination.utf8.elementsEqual(platform.name.utf8) else {
        throw PartsError(path: folder.path, problem: "it is for '\(folder.result.destination)', but the job is not")
      }
      try folder.prove()
    }
  }

  /// Returns the ids, as bytes, of these people's devices in the results.
  ///
  /// - Throws: ``StoreError``; ``DeviceStateError`` for a state that is damaged or of an unknown format.
  package func devices(of ids: [PersonID]) throws -> Set<[UInt8]> {
    var devices: Set<[UInt8]> = []
    for folder in folders {
      let store = try EventStore.openReading(folder.store, format: platform.storeFormat)
      devices.formUnion(try store.erasures.devices(of: ids, platform.belonging))
      try store.close()
    }
    return devices
  }

  /// Removes people from all results.
  ///
  /// - Parameters:
  ///   - ids: ids of the people; at least one.
  ///   - found: the ids, as bytes, of these people's devices in the job's store or in any result.
  ///   - now: the time for the proofs.
  ///   - options: the same options as for the job's store.
  /// - Returns: the removed data of each folder.
  /// - Throws: ``OutputError``, and store errors.
  package func erase(
    _ ids: [PersonID], found: Set<[UInt8]>, at now: Instant, _ options: ErasureOptions
  ) throws -> [(folder: String, report: ErasureReport)] {
    try folders.map { folder in
      let scratch = try TemporaryFolder(below: temporaryFolder)
      let path = scratch.path(PartResult.storeName)
      try PartDocument.copy(folder.store, to: path)
      let store = try EventStore.open(path, format: platform.storeFormat, isResult: true)
      let report = try store.erasures.erase(ids, found: found, at: now, options, isOf: platform.belonging)
      let known = try store.timelines.digestFiles()
      try store.close()
      if options.isRehearsal { return (folder.path, report) }
      let attempt = try AttemptFolder(for: folder.path)
      var result = folder.result
      (result.storeBytes, result.storeSum) = try attempt.adopt(path, as: PartResult.storeName)
      for name in known { try attempt.take("\(folder.path)/\(name)", as: name) }
      try attempt.write(result, as: PartResult.name)
      try attempt.replace()
      return (folder.path, report)
    }
  }
}
