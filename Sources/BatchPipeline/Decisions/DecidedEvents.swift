import BatchConfiguration
package import BatchFoundation
import BatchIngest
package import BatchReport
import BatchStore

/// The events of a job processed as if it had never run: only inputs are read, and nothing is kept, sent or written.
package struct DecidedEvents {
  package let report: RunReport
  /// The capabilities of the rules, and how often each was used.
  package let coverage: [RuleCoverage]
  private let request: RunRequest
  private let spool: EventSpool

  fileprivate init(_ request: RunRequest, _ outcome: RunOutcome, _ spool: EventSpool) {
    self.request = request
    self.spool = spool
    report = outcome.report
    coverage = request.platform.coverage(of: request.context, outcome.figures, outcome.details)
  }

  /// Returns all events in the order of delivery, in memory.
  package func all() throws -> [JSONNode] {
    var merge = try EventMerge(spool.sequences(), codec: codec)
    var events: [JSONNode] = []
    var buffer = ByteBuffer(capacity: 1 << 12)
    while try merge.appendNext(to: &buffer) {
      events.append(try JSONNode.parse(buffer.array))
      buffer.truncate(to: 0)
    }
    return events
  }

  /// Returns the bodies of the requests that would carry the events.
  ///
  /// - Parameter form: the destination's form of bodies.
  func bodies(form: Int) throws -> [JSONNode] {
    var bodies: [JSONNode] = []
    for sequence in spool.sequences() {
      while let block = try sequence.next() {
        var body = ByteBuffer(capacity: block.count * 4)
        try unsafe block.withUnsafeBufferPointer { try unsafe codec.appendBody(of: $0, version: form, to: &body) }
        bodies.append(try JSONNode.parse(body.array))
      }
    }
    return bodies
  }

  /// Returns the events device after device, by the bytes of their ids, however many there are.
  func byDevice() throws -> DeviceEvents {
    let folder = request.ingestOptions.temporaryFolder
    let lines = try OrderedLines(folder: folder)
    var series = LineSeries()
    var buffer = ByteBuffer(capacity: 1 << 12)
    for sequence in spool.sequences() {
      while let block = try sequence.next() {
        let cursor = try codec.cursor(of: block)
        while try cursor.next() {
          cursor.appendJSON(to: &buffer)
          // With equal times, device and order of decision determine the order.
          unsafe series.add(buffer.bytes, at: Instant(milliseconds: 0), cursor.device, cursor.emission)
          buffer.truncate(to: 0)
        }
        if series.byteCount > DeviceEvents.seriesBytes { try lines.append(&series) }
      }
    }
    try lines.append(&series)
    return try DeviceEvents(
      EventMerge(EventMerge.narrowed(lines.sequences, codec: LineCodec(), folder: folder), codec: LineCodec()))
  }

  private var codec: any EventCodec { request.platform.storeFormat.codec }
}

/// The events of one device after another, each device's in the order of decision.
final class DeviceEvents {
  /// The number of bytes sorted in memory at once.
  static let seriesBytes = 4 << 20

  private var merge: EventMerge
  private var buffer = ByteBuffer(capacity: 1 << 12)
  /// The device whose events come next; nil after the last.
  private(set) var device: [UInt8]?

  init(_ merge: EventMerge) {
    self.merge = merge
    device = merge.device.map { unsafe Array($0.bytes) }
  }

  /// Passes the events of the next device to `body`, as JSON.
  func next(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    guard let device else { return }
    while let next = merge.device, unsafe next.bytes.elementsEqual(device) {
      buffer.truncate(to: 0)
      _ = try merge.appendNext(to: &buffer)
      try unsafe body(buffer.bytes)
    }
    self.device = merge.device.map { unsafe Array($0.bytes) }
  }
}

extension Pipeline {
  /// Processes the job's inputs anew.
  ///
  /// - Throws: the errors of a dry run.
  package func decideAnew() throws -> DecidedEvents {
    var request = request
    request.mode = .dryRun(sends: false)
    request.decidesAnew = true
    let pipeline = Pipeline(request, monitor: monitor, interruption: interruption)
    let preparation = try pipeline.prepare()
    let storage = try pipeline.openStorage(preparation)
    var outcome = RunOutcome(report: RunReport(request))
    _ = try pipeline.decide(preparation, storage, &outcome)
    // A run that processes its inputs anew always has one.
    guard let spool = storage.spool else { preconditionFailure("no events were kept") }
    return DecidedEvents(request, outcome, spool)
  }
}
