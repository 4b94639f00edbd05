import BatchConfiguration
import BatchFoundation
import BatchIngest
package import BatchPlatform
import BatchStore
import FoundationEssentials

/// The first step of a run in parts: the lines of a job's inputs, distributed by device.
package struct Partitioning: Sendable {
  /// More would need more open files than a process may have.
  package static let mostParts = 512

  /// Where the lines come from.
  package enum Source: Sendable {
    /// The inputs that the job names.
    case inputs
    /// What ``FilePartitioning`` made of the files of a list, below a folder by the place of its first file in the list.
    case pieces(of: FileList, in: String)
  }

  private let request: RunRequest
  private let parts: Int
  /// The partition whose results this one continues; nil for none.
  private let previous: PartitionFolder?
  private let source: Source
  private let folder: String
  private let monitor: any RunMonitor
  private let interruption: Interruption

  /// - Parameters:
  ///   - request: of a run that reads the inputs.
  ///   - parts: from 1 to ``mostParts``.
  ///   - source: where the lines come from.
  ///   - previous: the folder of the partition whose results this one continues; nil for the first.
  ///   - folder: what is made; its own parent is made, too.
  ///   - monitor: told how far the partition is.
  ///   - interruption: ends it.
  /// - Throws: ``PartsError`` for a previous partition of another kind.
  package init(
    _ request: RunRequest, parts: Int, of source: Source, after previous: String?, to folder: String,
    monitor: any RunMonitor, interruption: Interruption
  ) throws {
    self.request = request
    self.parts = parts
    self.source = source
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
  /// - Throws: ``PartsError``, ``DamagedCopyError``, ``MissingPiecesError``, ``OutputError``, what reading throws.
  package func run() throws -> (folder: PartitionFolder, wasThere: Bool) {
    try request.refuseFuture()
    let files: InputFiles
    switch source {
    case .inputs:
      files = try InputFiles.find(request.job, allowsMissing: request.allowsMissing)
      for warning in files.warnings { monitor.note("\(warning)") }
    case .pieces(let list, _): files = list.files
    }
    let attempt = try AttemptFolder(for: folder)
    var manifest = PartManifest(
      job: request.job.name, destination: request.platform.name, hash: InputPartitioning.hash, asOf: request.asOf,
      from: request.job.window.from, to: request.job.window.to, knownUntil: knownUntil, previous: previous?.identity,
      files: try numbered(files), parts: [])
    switch source {
    case .inputs: manifest.parts = try write(files, to: attempt)
    case .pieces(let list, let folder):
      let pieces = try pieces(of: list, in: folder)
      manifest.parts = (0..<parts).map { part in
        PartManifest.Part(
          lines: pieces.reduce(0) { $0 + $1.piece.parts[part].lines },
          bytes: pieces.reduce(0) { $0 + $1.piece.parts[part].bytes })
      }
      manifest.pieces = pieces.map { PartManifest.Piece($0, from: self.folder) }
    }
    try attempt.write(manifest, as: PartManifest.name)
    if try attempt.publish() { return (try PartitionFolder(folder), false) }
    let present = try PartitionFolder(folder)
    guard present.manifest == manifest else { throw PartsError.occupied(folder) }
    return (present, true)
  }

  private var knownUntil: Instant {
    let own = request.job.knownUntil(at: request.now)
    return previous.map { max($0.manifest.knownUntil, own) } ?? own
  }

  private func write(_ files: InputFiles, to attempt: AttemptFolder) throws -> [PartManifest.Part] {
    let targets = try PartTargets(parts, in: attempt)
    let partitioning = InputPartitioning(
      files, vocabulary: request.vocabulary, options: request.ingestOptions, parts: parts, firstFile: 0)
    let size = files.totalSize
    let lines = try unsafe partitioning.run(targets.take) { progress in
      try interruption.check()
      monitor.progress(progress, of: size)
    }
    return zip(targets.names, try targets.finish(lines)).map { name, slice in
      PartManifest.Part(name: name, sha256: slice.sha256, lines: slice.lines, bytes: slice.bytes)
    }
  }

  /// In the order of the list.
  private func pieces(of list: FileList, in folder: String) throws -> [PieceFolder] {
    guard !list.isSection else {
      throw PartsError(path: list.path, problem: "it is a section of a list, and not all of it")
    }
    var (pieces, missing, next): ([PieceFolder], [Int], Int) = ([], [], 0)
    while next < list.numbers.upperBound {
      try interruption.check()
      guard FileManager.default.fileExists(atPath: "\(folder)/\(next)") else {
        missing.append(next)
        next += 1
        continue
      }
      let piece = try PieceFolder("\(folder)/\(next)")
      try check(piece, first: next, list)
      pieces.append(piece)
      next += piece.piece.files
    }
    guard missing.isEmpty else {
      throw MissingPiecesError(folder: folder, missing: missing, files: list.numbers.count)
    }
    return pieces
  }

  private func check(_ folder: PieceFolder, first: Int, _ list: FileList) throws {
    let piece = folder.piece
    func refuse(_ problem: String) throws -> Never { throw PartsError(path: folder.path, problem: problem) }
    guard piece.parts.count == parts else {
      try refuse("it is for \(piece.parts.count.counted("part")), and not for \(parts)")
    }
    guard piece.first == first else { try refuse("it is of file \(piece.first) of the list, and not of \(first)") }
    guard piece.files <= list.numbers.upperBound - first,
      try list.digest(of: first..<first + piece.files).utf8.elementsEqual(piece.entries.utf8)
    else { try refuse("it is of a file of another list") }
    guard piece.destination.utf8.elementsEqual(request.platform.name.utf8) else {
      try refuse("it is of '\(piece.destination)', and the job is not")
    }
    guard piece.hash.utf8.elementsEqual(InputPartitioning.hash.utf8) else {
      try refuse("another release wrote it, by another hash")
    }
    guard piece.configuration.utf8.elementsEqual(request.configurationDigest.utf8) else {
      try refuse("it was read with other settings than the job has now; make it again")
    }
  }

  /// A file that the previous partition or the job's store knows has its number from there, so that the same inputs make the same partition
  /// again; others have those behind all that were given, because events keep them.
  private func numbered(_ files: InputFiles) throws -> [PartManifest.File] {
    var numbers = Dictionary(
      (previous?.manifest.files ?? []).map { (ByteText($0.path), $0.number) }, uniquingKeysWith: { one, _ in one })
    for (path, number) in try storedNumbers() { numbers[ByteText(path)] = number }
    var next = 1 + (numbers.values.max() ?? 0)
    return files.files.map { file in
      let path = file.path.description
      let number = numbers[ByteText(path)] ?? next
      if number == next { next += 1 }
      numbers[ByteText(path)] = number
      return PartManifest.File(path: path, kind: file.kind.name, number: number)
    }
  }

  private func storedNumbers() throws -> [String: UInt32] {
    guard FileManager.default.fileExists(atPath: request.storePath) else { return [:] }
    let store = try EventStore.openReading(request.storePath, format: request.platform.storeFormat)
    let numbers = try store.runs.inputNumbers()
    let collected = try store.parts.partitions()
    if previous == nil, let last = collected.last {
      monitor.note(
        "Chain: \(collected.count.counted("partition was", "partitions were")) collected in \(request.storePath.printable), the last of them "
          + "\(last.shown), and this one continues none: 'collect' adds nothing of lines that it knows, and takes new ones with "
          + "--new-chain alone; for the next inputs name the last partition with --after")
    }
    try store.close()
    return numbers
  }
}
