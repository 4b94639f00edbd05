package import BatchFoundation

/// Reads the files of a run and passes on their records, device by device and in order, in bounded memory.
///
/// First, several threads read and decode all lines and pack them into buckets by device; an additional thread writes
/// records that do not fit into memory to a temporary file. Then each bucket is ordered, deduplicated and passed on; a
/// bucket that is too large for memory is processed in ordered slices. The result does not depend on the number of
/// threads, the block size or the memory limit.
package struct Ingest: Sendable {
  package let files: InputFiles
  package let vocabulary: RecordVocabulary
  package let options: IngestOptions

  package init(_ files: InputFiles, vocabulary: RecordVocabulary, options: IngestOptions) {
    (self.files, self.vocabulary, self.options) = (files, vocabulary, options)
  }

  /// The caller's functions, which worker threads call during a run. An error thrown by any of them ends the run.
  package struct Callbacks: Sendable {
    /// Returns, in ascending order, digests of lines that earlier runs accepted, at least for records in the spans;
    /// for one of the separate buckets of record ids (``RecordIDs``), ids instead. Called by several threads at once.
    package var known: @Sendable (_ bucket: Int, _ spans: [ClosedRange<Instant>]) throws -> [LineDigest]
    /// Returns whether a record replaces a later record with the same identity that an earlier run accepted. Nil
    /// if records are never replaced.
    package var replaces:
      (@Sendable (_ worker: Int, _ bucket: Int, _ device: Text, _ key: UInt64, Instant) throws -> Bool)?
    /// Receives quarantined lines, one batch at a time, in no particular order.
    package var quarantine: @Sendable ([QuarantinedLine]) throws -> Void
    /// Called periodically, never by two threads at once; may throw to stop the run.
    package var progress: @Sendable (IngestProgress) throws -> Void
    /// Called once all lines are read, before the first partition. If it returns false or throws, nothing is imported.
    /// Nil for no preview.
    package var preview: (@Sendable (InputPreview) throws -> Bool)?
    /// Receives the records of some devices, in no particular order of devices. Called by several threads at once, each
    /// with different devices.
    package var partition: @Sendable (Partition) throws -> Void

    package init(
      partition: @escaping @Sendable (Partition) throws -> Void,
      known: @escaping @Sendable (_ bucket: Int, _ spans: [ClosedRange<Instant>]) throws -> [LineDigest] = { _, _ in []
      },
      quarantine: @escaping @Sendable ([QuarantinedLine]) throws -> Void = { _ in },
      progress: @escaping @Sendable (IngestProgress) throws -> Void = { _ in },
      preview: (@Sendable (InputPreview) throws -> Bool)? = nil,
      replaces: (@Sendable (_ worker: Int, _ bucket: Int, _ device: Text, _ key: UInt64, Instant) throws -> Bool)? = nil
    ) {
      (self.partition, self.known, self.quarantine) = (partition, known, quarantine)
      (self.progress, self.preview, self.replaces) = (progress, preview, replaces)
    }
  }

  /// - Throws: ``IngestFailure`` if a read or write fails; ``InputChanged``, ``CommandError`` or
  ///   ``InputError/foreign(path:_:)`` for a bad input; or an error from a callback or remote storage.
  package func run(_ callbacks: Callbacks) throws -> IngestResult {
    let run = IngestRun(files, vocabulary, options, callbacks)
    let isKnownToBeSmall = files.pipe == nil && files.totalSize <= options.smallInput
    if isKnownToBeSmall {
      try run.readLines()
    } else {
      try Threads.run(options.workers + 1) { worker in
        if worker < options.workers { try run.readLines() } else { try run.spillAhead() }
      }
    }
    let isSmall = run.bytesRead <= options.smallInput
    let preview = InputPreview(
      space: run.space, isSmall: isSmall, recordsByFile: run.tallies.map(\.usable), counts: run.counts,
      known: callbacks.known)
    guard try callbacks.preview?(preview) ?? true else { return run.result }
    let feed = BucketFeed(run.space, try run.space.order())
    let workers = isSmall ? 1 : options.workers
    try Threads.run(run.space.spilledBytes == 0 ? workers : workers + 1) { worker in
      if worker < workers { try run.handOver(feed, worker) } else { try feed.loadAhead() }
    }
    return run.result
  }
}

private final class IngestRun: Sendable {
  private struct Shared {
    var counts = IngestCounts()
    var unknown = UnknownFields()
    var past: [PastLine] = []
    var warnings: [String: PlacedWarnings] = [:]
    var progress = IngestProgress(stage: .reading, bytesRead: 0, records: 0)
    var tallies: [FileTally]
  }

  let space: BucketSpace
  private let source: LineSource
  private let files: InputFiles
  private let vocabulary: RecordVocabulary
  private let options: IngestOptions
  private let callbacks: Ingest.Callbacks
  /// The state of all workers; its lock also serializes the quarantine and progress callbacks.
  private let shared: Guarded<Shared>
  private let countedFiles: Int

  init(
    _ files: InputFiles, _ vocabulary: RecordVocabulary, _ options: IngestOptions, _ callbacks: Ingest.Callbacks
  ) {
    (self.files, self.vocabulary, self.options, self.callbacks) = (files, vocabulary, options, callbacks)
    // The memory for blocks, tapes, the index of a partition, and its records on their way to the caller.
    let buffers = options.workers * 4 * options.blockBytes + (10 << 20)
    space = BucketSpace(
      limit: max(options.memoryLimit - buffers, options.memoryLimit / 4), workers: options.workers,
      folder: options.temporaryFolder)
    countedFiles = files.minima.isEmpty && options.knownFiles == nil ? 0 : files.files.count
    let shared = Guarded(Shared(tallies: Array(repeating: FileTally(), count: countedFiles)))
    if files.part == nil { shared.withLock { $0.progress.files = files.files.count } }
    self.shared = shared
    source = LineSource(files, options, inOrder: false) {
      try shared.withLock { try callbacks.progress($0.progress) }
    }
  }

  var result: IngestResult {
    shared.withLock {
      IngestResult(
        counts: $0.counts, past: $0.past, unknownFields: $0.unknown.sorted, knownFiles: knownFiles($0.tallies),
        warnings: $0.warnings, spilledBytes: space.spilledBytes)
    }
  }

  private func knownFiles(_ tallies: [FileTally]) -> [Int: KnownFile] {
    var known: [Int: KnownFile] = [:]
    for (number, sum) in source.sums {
      guard let span = tallies[number].spanOfAll else { continue }
      known[number] = KnownFile(files.files[number], sum, lines: tallies[number].lines, span: span, options)
    }
    return known
  }

  /// The number of bytes read from the disk and from pipes, compressed or not.
  var bytesRead: UInt64 { shared.withLock(\.progress.bytesRead) }

  var counts: IngestCounts { shared.withLock(\.counts) }

  var tallies: [FileTally] { shared.withLock(\.tallies) }

  func readLines() throws {
    defer { space.endFilling() }
    do {
      let block = LineBlock(capacity: options.blockBytes)
      var worker = LineWorker(
        space: space, vocabulary: vocabulary, options: options, countedFiles: countedFiles)
      var reported = 0
      while let bytes = try source.next(block) {
        try worker.read(block) { try report(0, 0, $0) }
        let lines = worker.counts.read - reported
        reported = worker.counts.read
        let batch = worker.hasFullBatch ? worker.takeQuarantined() : []
        try report(lines, bytes, batch)
      }
      worker.finish()
      try report(0, 0, worker.takeQuarantined())
      shared.withLock {
        $0.counts += worker.counts
        for file in worker.tallies.indices { $0.tallies[file] += worker.tallies[file] }
        $0.unknown.merge(worker.unknownFields)
        $0.past += worker.pastLines.lines
        for (kind, warnings) in worker.warnings { $0.warnings[kind, default: PlacedWarnings()].add(warnings) }
      }
    } catch {
      source.stop()
      throw error
    }
  }

  func spillAhead() throws {
    do { try space.spillAhead() } catch {
      source.stop()
      throw error
    }
  }

  private func report(_ lines: Int, _ bytes: UInt64, _ batch: [QuarantinedLine]) throws {
    let filesRead = source.filesRead
    try shared.withLock {
      if !batch.isEmpty { try callbacks.quarantine(batch) }
      $0.progress.records += lines
      $0.progress.bytesRead = max($0.progress.bytesRead, bytes)
      $0.progress.filesRead = max($0.progress.filesRead, filesRead)
      try callbacks.progress($0.progress)
    }
  }

  func handOver(_ feed: BucketFeed, _ worker: Int) throws {
    do {
      var sorter = PartitionSorter()
      while let item = try feed.next() {
        defer { space.release(item.stored.buffers) }
        sorter.beginBucket()
        if let loaded = item.loaded {
          defer { space.release(loaded) }
          try handOver(
            item.stored.buffers + loaded, item.slices[0],
            Partition(bucket: item.bucket, worker: worker, devices: []), &sorter)
        } else {
          try handOver(item, of: feed, worker, &sorter)
        }
      }
    } catch {
      feed.stop()
      throw error
    }
  }

  /// Passes on a bucket slice by slice. Each slice is read twice, because the rules must first know which records
  /// follow.
  private func handOver(
    _ item: BucketFeed.Item, of feed: BucketFeed, _ worker: Int, _ sorter: inout PartitionSorter
  ) throws {
    let (stored, slices) = (item.stored, item.slices)
    let lookaheads = DeviceLookaheads(vocabulary)
    var duplicates = 0
    for slice in slices {
      let loaded = try stored.load(slice, from: space)
      defer {
        space.release(loaded)
        duplicates += sorter.duplicates
      }
      lookaheads.add(
        try sorter.sort(stored.buffers + loaded, in: slice, known: { try known(item.bucket, areIDs: $0, $1) }) {
          _, _, _ in
          false
        })
      guard try continues(feed) else { return }
    }
    guard !lookaheads.isEmpty else { return try count(accepted: 0, duplicates: duplicates) }
    sorter.beginBucket()
    for slice in slices {
      let loaded = try stored.load(slice, from: space)
      defer { space.release(loaded) }
      try handOver(
        stored.buffers + loaded, slice,
        Partition(
          bucket: item.bucket, worker: worker, devices: [], lookaheads: lookaheads, isLast: slice == slices.last),
        &sorter)
      guard try continues(feed) else { return }
    }
  }

  /// - Parameter draft: the partition without its devices.
  private func handOver(
    _ buffers: [PackedRecords], _ slice: Range<RecordPlace>, _ draft: Partition, _ sorter: inout PartitionSorter
  ) throws {
    var partition = draft
    // A device whose records come in slices is not rewound.
    let replaces = draft.lookaheads == nil ? callbacks.replaces : nil
    partition.devices = try sorter.sort(buffers, in: slice, known: { try known(draft.bucket, areIDs: $0, $1) }) {
      try replaces?(draft.worker, draft.bucket, $0, $1, $2) ?? false
    }
    partition.repeated = sorter.repeated
    let accepted = partition.recordCount
    // The last slice completes all devices in the bucket, so even a slice without records is passed on.
    if accepted > 0 || partition.lookaheads?.isEmpty == false || !partition.repeated.isEmpty {
      try callbacks.partition(partition)
    }
    try count(accepted: accepted, duplicates: sorter.duplicates)
  }

  private func known(_ bucket: Int, areIDs: Bool, _ spans: [ClosedRange<Instant>]) throws -> [LineDigest] {
    try callbacks.known(areIDs ? RecordIDs.bucket(of: bucket) : bucket, spans)
  }

  private func count(accepted: Int, duplicates: Int) throws {
    try shared.withLock {
      $0.counts.accepted += accepted
      $0.counts.duplicates += duplicates
      if $0.progress.stage == .reading {
        let counts = $0.counts
        $0.progress = IngestProgress(
          stage: .ordering, bytesRead: $0.progress.bytesRead, records: counts.duplicates - duplicates,
          total: counts.read - counts.outOfWindow - counts.forgotten - counts.quarantined
            - counts.leftOut.values.reduce(0, +))
      }
      $0.progress.records += accepted + duplicates
      try callbacks.progress($0.progress)
    }
  }

  /// Returns false if another thread has failed; its error ends the run.
  private func continues(_ feed: BucketFeed) throws -> Bool {
    try shared.withLock { try callbacks.progress($0.progress) }
    return !feed.isStopped
  }
}
