import BatchFoundation
import BatchIngest
import BatchStore
import EngageRules
import Synchronization

/// The local part of a run: records in, events kept and ready for upload.
///
/// Partitions of devices come from ``Ingest`` on several threads. They are decided by the rules and handed to the sink in batches of
/// whole devices, so a kill loses nothing that was stored, and a repeated run finds what is there as duplicates.
struct LocalStage: Sendable {
  struct Options: Sendable {
    // The names in it lie in the arena beside it and are only read.
    nonisolated(unsafe) var rules: RuleSettings
    nonisolated(unsafe) var names: Arena
    var links: DeepLinkRouter
    var asOf: Instant
    var limits = BlockLimits()
    var ingest = IngestOptions()
    var stretch = Stretch()
    /// Inputs up to this many bytes are decided as one stretch, so that requests are full and in the order of time.
    var smallInput: UInt64 = 8 << 20
    /// Devices are noted for the set-up of their recipients.
    var reconcilesIdentities = false
    /// Device whose rules are explained; nil for none.
    var explain: String?
  }

  /// How much a worker decides before it encodes the events, by their number and by the bytes of the records behind them.
  ///
  /// Small enough that all of it stays in the processor's cache, large enough that the requests of a stretch are full. Which
  /// events there are does not depend on it.
  struct Stretch: Sendable {
    var events = 2048
    var bytes = 1 << 20
  }

  var files: InputFiles
  var options: Options
  var sink: any LocalSink

  /// - Throws: what reading, the rules' decoding of stored states or the sink throws.
  func run(progress: @escaping @Sendable (IngestProgress) throws -> Void) throws -> LocalResult {
    var ingest = options.ingest
    let keepsAll = files.totalSize <= options.smallInput
    if keepsAll { ingest.workers = 1 }
    let workers = (0..<ingest.workers).map { _ in LocalWorker(self, keepsAll: keepsAll) }
    let result = try Ingest(files, options: ingest).run(
      Ingest.Callbacks(
        partition: { try workers[$0.worker].decide($0) },
        known: { bucket, first, last in try sink.earlier.knownDigests(bucket: bucket, from: first, to: last) },
        quarantine: { lines in try sink.quarantine(lines) },
        progress: progress))
    let decided = workers.reduce(into: Set()) { $0.formUnion($1.buckets) }
    for bucket in 0..<DeviceHash.bucketCount where !decided.contains(bucket) { try workers[0].decideIdle(bucket) }
    for worker in workers { try worker.finish() }
    var total = LocalResult(ingest: result)
    for worker in workers { total.add(worker.tally) }
    try total.setAsideLate(files, longest: options.ingest.maxLineBytes, sink)
    try sink.finish()
    return total
  }
}

/// Where decided partitions go, and what earlier runs left: the store, or nothing but an event file in a dry run.
protocol LocalSink: Sendable {
  var earlier: EarlierRuns { get }
  func quarantine(_ lines: [QuarantinedLine]) throws
  /// Keeps the batch as a whole or not at all, now or soon.
  func keep(_ batch: LocalBatch) throws
  /// Returns when everything that was handed over is kept.
  func finish() throws
}
