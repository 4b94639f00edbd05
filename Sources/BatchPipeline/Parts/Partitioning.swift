import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchStore
import FoundationEssentials

/// The distribution of a job's input lines by device: the first step of a run in parts.
package enum Partitioning {
  /// The maximum number of parts; more would need more open files than a process may have.
  package static let mostParts = 512

  package enum Source: Sendable {
    case inputs
    /// The pieces created by ``Pipeline/partition(_:only:parts:to:)``, each in a folder named after the index of its
    /// first file.
    case pieces(of: FileList, in: String)
  }
}

extension Pipeline {
  /// Distributes the lines of a source to parts.
  ///
  /// - Parameters:
  ///   - parts: the number of parts, from 1 to ``Partitioning/mostParts``.
  ///   - previous: the folder of the partition whose results the new one continues; nil for the first partition.
  ///   - folder: the folder to create; missing parent folders are created too.
  /// - Returns: the folder, and whether an equal one already existed.
  /// - Throws: ``PartsError``, ``CommandError`` for damaged files and missing pieces, ``OutputError``, and errors from reading.
  package func partition(
    _ source: Partitioning.Source, parts: Int, after previous: String?, to folder: String
  ) throws -> (folder: PartitionFolder, wasThere: Bool) {
    let previous = try previous.map { try PartitionFolder($0) }
    try previous?.refuse(parts: parts, of: platform)
    try request.refuseFuture()
    let files: InputFiles
    switch source {
    case .inputs:
      files = try InputFiles.find(request.job, request.storage, allowsMissing: request.allowsMissing)
      for warning in files.warnings { monitor.note("\(warning)") }
    case .pieces(let list, _): files = list.files
    }
    let attempt = try AttemptFolder(for: folder)
    var manifest = PartManifest(
      job: request.job.name, destination: request.platform.name, hash: InputPartitioning.hash, asOf: request.asOf,
      from: request.job.window.from, to: request.job.window.to, knownUntil: knownUntil(after: previous),
      previous: previous?.identity,
      files: try numbered(files, after: previous), parts: [])
    switch source {
    case .inputs: manifest.parts = try write(files, in: parts, to: attempt)
    case .pieces(let list, let place):
      let pieces = try pieces(of: list, in: place, parts: parts)
      manifest.parts = (0..<parts).map { part in
        PartManifest.Part(
          lines: pieces.reduce(0) { $0 + $1.piece.parts[part].lines },
          bytes: pieces.reduce(0) { $0 + $1.piece.parts[part].bytes })
      }
      manifest.pieces = pieces.map { PartManifest.Piece($0, from: folder) }
    }
    try attempt.write(manifest, as: PartManifest.name)
    if try attempt.publish() { return (try PartitionFolder(folder), false) }
    let present = try PartitionFolder(folder)
    guard present.manifest == manifest else { throw PartsError.occupied(folder) }
    return (present, true)
  }

  private func knownUntil(after previous: PartitionFolder?) -> Instant {
    let own = request.job.knownUntil(at: request.now)
    return previous.map { max($0.manifest.knownUntil, own) } ?? own
  }

  private func write(_ files: InputFiles, in parts: Int, to attempt: AttemptFolder) throws -> [PartManifest.Part] {
    let targets = try PartTargets(parts, in: attempt)
    let lines = try distribute(files, from: 0, to: targets)
    return zip(targets.names, try targets.finish(lines)).map { name, slice in
      PartManifest.Part(name: name, sum: slice.sum, lines: slice.lines, bytes: slice.bytes)
    }
  }

  /// Distributes the lines of files, numbered from `number`, to parts. Returns the number of lines of each part.
  func distribute(_ files: InputFiles, from number: Int, to targets: PartTargets) throws -> [Int] {
    let partitioning = InputPartitioning(
      files, vocabulary: request.vocabulary, options: ingestOptions, parts: targets.names.count,
      firstFile: UInt32(number))
    let size = files.totalSize
    let (lines, warnings) = try unsafe partitioning.run(targets.take) { try progress($0, of: size) }
    for (kind, counted) in warnings.sorted(by: { $0.key < $1.key }) {
      guard let first = counted.examples.first else { continue }
      let place = "\(files.files[Int(first.position.file)].path.description):\(first.position.line)"
      monitor.note("warning: \(counted.occurrences) x \(kind): \(first.detail) (first: \(place.printable))")
    }
    return lines
  }

  /// Returns the pieces of a list's files, in the order of the list.
  private func pieces(of list: FileList, in folder: String, parts: Int) throws -> [PieceFolder] {
    guard !list.isSection else {
      throw PartsError(path: list.path, problem: "it is only a section of a list; name the complete list with --files")
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
      try check(piece, parts: parts, first: next, list)
      pieces.append(piece)
      next += piece.piece.files
    }
    guard missing.isEmpty else {
      let (pieces, verb, them) = missing.count == 1 ? ("piece", "is", "it") : ("pieces", "are", "them")
      throw CommandError(
        .noInput,
        "\(folder.printable): error: the \(pieces) for \(missing.count.counted("file")) of \(list.numbers.count) "
          + "\(verb) missing: \(missing.listed); create \(them) first")
    }
    return pieces
  }

  private func check(_ folder: PieceFolder, parts: Int, first: Int, _ list: FileList) throws {
    let piece = folder.piece
    func refuse(_ problem: String) throws -> Never { throw PartsError(path: folder.path, problem: problem) }
    guard piece.parts.count == parts else {
      try refuse("it is for \(piece.parts.count.counted("part")), not \(parts)")
    }
    guard piece.first == first else { try refuse("it is for file \(piece.first) of the list, not \(first)") }
    guard piece.files <= list.numbers.upperBound - first,
      try list.digest(of: first..<first + piece.files).utf8.elementsEqual(piece.entries.utf8)
    else { try refuse("it was made from a different list of files") }
    guard piece.destination.utf8.elementsEqual(request.platform.name.utf8) else {
      try refuse("it is for '\(piece.destination)', but the job is not")
    }
    guard piece.hash.utf8.elementsEqual(InputPartitioning.hash.utf8) else {
      try refuse("it was written by another release, with a different hash function; create it again")
    }
    guard piece.configuration.utf8.elementsEqual(request.configurationDigest.utf8) else {
      try refuse("it was created with settings that the job no longer has; create it again")
    }
  }

  /// Numbers the files. A file that the previous partition or the job's store knows keeps its number, so that the same
  /// inputs produce the same partition again. Other files get numbers above all existing ones, because stored events
  /// refer to files by number.
  private func numbered(
    _ files: InputFiles, after previous: PartitionFolder?
  ) throws -> [PartManifest.File] {
    var numbers = Dictionary(
      (previous?.manifest.files ?? []).map { (ByteText($0.path), $0.number) }, uniquingKeysWith: { one, _ in one })
    for (path, number) in try storedNumbers(beginsChain: previous == nil) { numbers[ByteText(path)] = number }
    var next = 1 + (numbers.values.max() ?? 0)
    return files.files.map { file in
      let path = file.path.description
      let number = numbers[ByteText(path)] ?? next
      if number == next { next += 1 }
      numbers[ByteText(path)] = number
      return PartManifest.File(path: path, kind: file.kind.name, number: number)
    }
  }

  private func storedNumbers(beginsChain: Bool) throws -> [String: UInt32] {
    guard FileManager.default.fileExists(atPath: request.storePath) else { return [:] }
    let store = try EventStore.openReading(request.storePath, format: request.platform.storeFormat)
    let numbers = try store.runs.inputNumbers()
    let collected = try store.parts.partitions()
    if beginsChain, let last = collected.last {
      monitor.note(
        "Chain: \(collected.count.counted("partition was", "partitions were")) collected in \(request.storePath.printable), most recently "
          + "\(last.shown), which this one does not continue. 'collect' adds the lines of this one only with --new-chain, and only if the "
          + "store has none of them. For the next inputs, name the last partition with --after")
    }
    try store.close()
    return numbers
  }
}

extension PartitionFolder {
  /// - Throws: ``PartsError`` if a partition with this many parts, for this platform, cannot continue this one.
  fileprivate func refuse(parts: Int, of platform: any Platform) throws {
    guard manifest.parts.count == parts else {
      throw PartsError(
        path: path,
        problem:
          "it has \(manifest.parts.count.counted("part")), but the new partition would have \(parts); use the same number, because each device's state stays in its part"
      )
    }
    guard manifest.destination.utf8.elementsEqual(platform.name.utf8) else {
      throw PartsError(path: path, problem: "it is for '\(manifest.destination)', but the job is not")
    }
  }
}
