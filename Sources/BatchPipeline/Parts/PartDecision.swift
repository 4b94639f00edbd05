package import BatchConfiguration
import BatchFoundation
import BatchIngest
package import BatchReport
import BatchStore
import FoundationEssentials
import Glibc

extension Pipeline {
  /// Processes one part, continuing the states in the part's previous result: the second step of a run in parts.
  ///
  /// It reads and writes only files, so it may be repeated on any machine and may run concurrently. Until the store is
  /// closed, it is in the folder for temporary files, because the result's folder may be on a network. It is made
  /// durable only with the result, because nothing reads the store of a killed run. The request must have the times of
  /// the partition (``PartitionFolder/changes(_:)``).
  ///
  /// - Parameters:
  ///   - part: the number of the part, from 0.
  ///   - previous: the folder of the result whose states this part continues; nil for the first partition.
  ///   - folder: the folder to create; missing parent folders are created too.
  /// - Returns: the folder, the report of the run, and whether the folder already existed with the same result.
  /// - Throws: ``PartsError`` for folders that do not belong together, `CommandError.damagedCopy`, ``OutputError``, the
  ///   errors of a run, and ``CommandError`` for a run that ended early.
  package func decide(
    _ part: Int, of partition: PartitionFolder, from previous: String?, to folder: String
  ) throws -> (result: ResultFolder, report: RunReport, wasThere: Bool) {
    let previous = try previous.map { try ResultFolder($0) }
    try refuse(part, of: partition, from: previous)
    let expected = partition.manifest.parts[part]
    let scratch = try TemporaryFolder(below: request.ingestOptions.temporaryFolder)
    try previous?.prove()
    var request = request
    request.part = try PartInput(partition, part)
    request.loaded.job.store = scratch.path(PartResult.storeName)
    request.loaded.job.reports = nil
    let known = try previous.map { try adoptStates(of: $0, into: request.storePath) } ?? []
    let outcome = try Pipeline(request, monitor: monitor, interruption: interruption).run()
    guard outcome.exit == .done else {
      throw CommandError(outcome.exit, outcome.report.failure ?? "error: the part was not processed")
    }
    guard outcome.report.summary.records.read == expected.lines else {
      throw CommandError.damagedCopy(partition.path)
    }
    let attempt = try AttemptFolder(for: folder)
    for name in known { try attempt.take(scratch.path(name), as: name) }
    // A closed store has no log file.
    let (bytes, sum) = try attempt.adopt(request.storePath, as: PartResult.storeName)
    let result = PartResult(
      partition: partition.identity, part: part, parts: partition.manifest.parts.count,
      destination: request.platform.name, previous: previous?.identity,
      previousPartition: previous?.result.partition, previousConfiguration: previous?.result.configuration,
      configuration: request.configurationDigest, lines: expected.lines, storeBytes: bytes,
      storeSum: sum, figures: outcome.figures,
      details: try outcome.details?.portable())
    try attempt.write(result, as: PartResult.name)
    if try attempt.publish() { return (try ResultFolder(folder), outcome.report, false) }
    let present = try ResultFolder(folder)
    guard present.result.isTwin(of: result) else { throw PartsError.occupied(folder) }
    return (present, outcome.report, true)
  }

  /// - Returns: the names of the files next to the store that hold digests of earlier nights. Files missing there
  ///   become links to those of `previous`.
  private func adoptStates(of previous: ResultFolder, into path: String) throws -> [String] {
    if !previous.result.configuration.utf8.elementsEqual(request.configurationDigest.utf8) {
      monitor.note("Settings: \(previous.path.printable) was processed with different settings than this part")
    }
    let store = try EventStore.open(path, format: request.platform.storeFormat, isScratch: true)
    try store.parts.adoptStates(of: previous.store)
    try forget(in: store)
    let known = try store.timelines.digestFiles()
    try store.close()
    let folder = PathText.folder(of: path)
    for name in known where unsafe access("\(folder)/\(name)", F_OK) != 0 {
      let target = PathText.resolve(
        "\(previous.path)/\(name)", in: FileManager.default.currentDirectoryPath)
      guard unsafe symlink(target, "\(folder)/\(name)") == 0 else {
        throw OutputError(path: "\(folder)/\(name)", code: errno)
      }
    }
    return known
  }

  /// Removes data past its retention period, as `store purge` does for runs on a store.
  private func forget(in store: EventStore) throws {
    let kept = request.settings.eventStore
    let gone = try store.retention.purgeKnowledge(
      asOf: request.asOf, digestDays: kept.digestDays > 0 ? kept.digestDays : nil,
      deviceDays: kept.deviceDays > 0 ? kept.deviceDays : nil
    ) { try request.platform.lastSeen($0) }
    if gone.digests + gone.devices > 0 {
      monitor.note(
        "Purged: digests of \(gone.digests.counted("line")) and states of \(gone.devices.counted("idle device")), according to "
          + "LocalEventStore.expireDigestsAfterNumDays and expireDevicesAfterNumDays")
    }
  }

  private func refuse(_ part: Int, of partition: PartitionFolder, from previous: ResultFolder?) throws {
    let manifest = partition.manifest
    func refuse(_ path: String, _ problem: String) throws -> Never { throw PartsError(path: path, problem: problem) }
    guard manifest.destination.utf8.elementsEqual(request.platform.name.utf8) else {
      try refuse(partition.path, "it is for '\(manifest.destination)', but the job is not")
    }
    guard manifest.job.utf8.elementsEqual(request.job.name.utf8) else {
      try refuse(partition.path, "it is for the job '\(manifest.job)', not '\(request.job.name)'")
    }
    guard manifest.parts.indices.contains(part) else {
      let parts = manifest.parts.count == 1 ? "only part 0, not" : "parts 0 to \(manifest.parts.count - 1), but no"
      try refuse(partition.path, "it has \(parts) part \(part)")
    }
    switch (previous, manifest.previous) {
    case (nil, nil): break
    case (nil, .some):
      try refuse(
        partition.path,
        "it continues an earlier partition, so --state-in must name that partition's result for part \(part)")
    case (let before?, nil):
      try refuse(before.path, "the partition does not continue another; create it with --after, or omit --state-in")
    case (let before?, let wanted?):
      guard before.result.parts == manifest.parts.count else {
        try refuse(before.path, "its partition has \(before.result.parts.counted("part")), not \(manifest.parts.count)")
      }
      guard before.result.part == part else {
        try refuse(before.path, "it is for part \(before.result.part), not \(part)")
      }
      guard before.result.partition.utf8.elementsEqual(wanted.utf8) else {
        try refuse(before.path, "it is not from the partition that this part continues")
      }
    }
  }
}

extension PartitionFolder {
  /// Returns the changes with the times that the partition fixes for all its parts.
  package func changes(_ changes: CommandLineChanges) -> CommandLineChanges {
    var changes = changes
    (changes.from, changes.to, changes.asOf) = (manifest.from, manifest.to, manifest.asOf)
    return changes
  }
}

struct PartInput: Sendable {
  let files: InputFiles
  /// The number of the part, from 0, and the identity of its partition.
  let number: Int
  let partition: String
  /// The known time of all parts.
  let knownUntil: Instant

  init(_ partition: PartitionFolder, _ part: Int) throws {
    knownUntil = partition.manifest.knownUntil
    (number, self.partition) = (part, partition.identity)
    var files = InputFiles.none
    files.files = try partition.manifest.files.map { file in
      guard let kind = InputKind(name: file.kind) else {
        throw PartsError(path: partition.path, problem: "'\(file.kind)' is not an input kind")
      }
      return InputFile(path: FilePath(file.path), kind: kind, size: 0)
    }
    files.part = InputPart(
      slices: try partition.slices(of: part), numbers: partition.manifest.files.map(\.number))
    self.files = files
  }
}
