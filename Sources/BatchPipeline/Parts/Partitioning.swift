import BatchConfiguration
import BatchFoundation
import BatchIngest
package import BatchPlatform
import BatchStore
import BatchThreads
import FoundationEssentials

/// The first step of a run in parts: the lines of a job's inputs, distributed by device.
package struct Partitioning: Sendable {
  /// More would need more open files than a process may have.
  package static let mostParts = 512

  private let request: RunRequest
  private let parts: Int
  /// The partition whose results this one continues; nil for none.
  private let previous: PartitionFolder?
  private let folder: String
  private let monitor: any RunMonitor
  private let interruption: Interruption

  /// - Parameters:
  ///   - request: of a run that reads the inputs.
  ///   - parts: from 1 to ``mostParts``.
  ///   - previous: the folder of the partition whose results this one continues; nil for the first.
  ///   - folder: what is made; its own parent is made, too.
  ///   - monitor: told how far the partition is.
  ///   - interruption: ends it.
  /// - Throws: ``PartsError`` for a previous partition of another kind.
  package init(
    _ request: RunRequest, parts: Int, after previous: String?, to folder: String, monitor: any RunMonitor,
    interruption: Interruption
  ) throws {
    self.request = request
    self.parts = parts
    self.previous = try previous.map { try PartitionFolder($0) }
    self.folder = folder
    self.monitor = monitor
    self.interruption = interruption
    guard let before = self.previous else { return }
    guard before.manifest.parts.count == parts else {
      throw PartsError(
        path: before.path,
        problem:
          "it has \(before.manifest.parts.count) parts, and this one would have \(parts); states stay with their part")
    }
    guard before.manifest.destination.utf8.elementsEqual(request.platform.name.utf8) else {
      throw PartsError(path: before.path, problem: "it is of '\(before.manifest.destination)', and the job is not")
    }
  }

  /// - Returns: what the folder holds, and whether it was there already, whole and equal.
  /// - Throws: ``PartsError``, ``OutputError``, what reading throws.
  package func run() throws -> (folder: PartitionFolder, wasThere: Bool) {
    let files = try InputFiles.find(request.job)
    for warning in files.warnings { monitor.note("\(warning)") }
    let attempt = try AttemptFolder(for: folder)
    var manifest = PartManifest(
      job: request.job.name, destination: request.platform.name, hash: InputPartitioning.hash, asOf: request.asOf,
      from: request.job.window.from, to: request.job.window.to, previous: previous?.identity,
      files: try numbered(files), parts: [])
    manifest.parts = try write(files, to: attempt)
    let text = try PartDocument.text(manifest)
    let file = try AttemptFile(PartManifest.name, in: attempt)
    try unsafe text.withUnsafeBufferPointer { try unsafe file.write($0) }
    _ = try file.finish()
    if try attempt.publish() { return (try PartitionFolder(folder), false) }
    let present = try PartitionFolder(folder)
    guard present.manifest == manifest else {
      throw PartsError(path: folder, problem: "something else stands there already; take another folder, or remove it")
    }
    return (present, true)
  }

  private func write(_ files: InputFiles, to attempt: AttemptFolder) throws -> [PartManifest.Part] {
    let names = (0..<parts).map { "part-" + String(100_000 + $0).dropFirst() }
    // Written by one reader at a time, in the order of the lines.
    let targets = Guarded<[AttemptFile]>([])
    try targets.withLock { targets in targets = try names.map { try AttemptFile($0, in: attempt) } }
    let partitioning = InputPartitioning(
      files, vocabulary: request.vocabulary, options: request.ingestOptions, parts: parts)
    let lines = try unsafe partitioning.run(
      { part, bytes in try targets.withLock { try unsafe $0[part].write(bytes) } },
      progress: { progress in
        try interruption.check()
        monitor.progress(progress, of: files.totalSize)
      })
    return try targets.withLock { targets in
      try names.indices.map { part in
        let digest = try targets[part].finish()
        return PartManifest.Part(
          name: names[part], lines: lines[part], bytes: targets[part].byteCount, sha256: digest)
      }
    }
  }

  /// Numbers go on behind those that the previous partition and the job's store have given, because events keep them.
  private func numbered(_ files: InputFiles) throws -> [PartManifest.File] {
    var next = try 1 + max(previous?.manifest.files.map(\.number).max() ?? 0, storedNumber())
    var numbers: [ByteText: UInt32] = [:]
    return files.files.map { file in
      let path = file.path.description
      let number = numbers[ByteText(path)] ?? next
      if number == next { next += 1 }
      numbers[ByteText(path)] = number
      return PartManifest.File(path: path, kind: file.kind.name, number: number)
    }
  }

  private func storedNumber() throws -> UInt32 {
    guard FileManager.default.fileExists(atPath: request.storePath) else { return 0 }
    let store = try EventStore.openReading(request.storePath, format: request.platform.storeFormat)
    let number = try store.lastInputNumber()
    try store.close()
    return number
  }
}
