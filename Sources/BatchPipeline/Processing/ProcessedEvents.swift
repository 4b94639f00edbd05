package import BatchFoundation
package import BatchReport
import BatchStore

/// The events that a job's inputs would produce if the job had never run. Only inputs are read; nothing is kept, sent
/// or written.
package struct ProcessedEvents {
  package let report: RunReport
  /// The capabilities of the rules, and how often each was used.
  package let coverage: [RuleCoverage]
  private let request: RunRequest
  private let sink: StoreSink

  fileprivate init(_ request: RunRequest, _ outcome: RunOutcome, _ sink: StoreSink) {
    self.request = request
    self.sink = sink
    report = outcome.report
    coverage = request.platform.coverage(of: request.context, outcome.figures, outcome.details)
  }

  /// Returns all events, in delivery order; throws ``StoreError`` if the temporary store cannot be read.
  package func all() throws -> [JSONNode] {
    var merge = try EventMerge(sequences(), wireForm: wireForm)
    var events: [JSONNode] = []
    var buffer = ByteBuffer(capacity: 1 << 12)
    while try merge.appendNext(to: &buffer) {
      events.append(try JSONNode.parse(buffer.array, options: .nulCharacters))
      buffer.truncate(to: 0)
    }
    return events
  }

  /// Returns the bodies of the requests that would carry the events.
  ///
  /// - Parameter form: the version of request bodies (``Destination/form``).
  func bodies(form: Int) throws -> [JSONNode] {
    var bodies: [JSONNode] = []
    for sequence in try sequences() {
      while let block = try sequence() {
        var body = ByteBuffer(capacity: block.count * 4)
        try unsafe block.withUnsafeBufferPointer { try unsafe wireForm.appendBody(of: $0, version: form, to: &body) }
        bodies.append(try JSONNode.parse(body.array, options: .nulCharacters))
      }
    }
    return bodies
  }

  /// Calls `body` once for each device, in byte order of the ids, with the device's behavior in each result.
  /// Memory use does not depend on the number of events.
  static func forEachDevice(
    in results: [ProcessedEvents], _ body: (_ device: [UInt8], _ behaviors: [DeviceBehavior]) throws -> Void
  ) throws {
    let lines = try OrderedLines()
    for (side, result) in results.enumerated() { try result.add(to: lines, side: side) }
    let none = results.map { _ in DeviceBehavior() }
    var (device, behaviors): ([UInt8]?, [DeviceBehavior]) = (nil, none)
    try lines.forEach { line in
      if let device, device != line.device {
        try body(device, behaviors)
        behaviors = none
      }
      device = line.device
      try behaviors[line.side].add(line.bytes, results[line.side].request)
    }
    if let device { try body(device, behaviors) }
  }

  private func add(to lines: OrderedLines, side: Int) throws {
    var series = LineSeries()
    var buffer = ByteBuffer(capacity: 1 << 12)
    for sequence in try sequences() {
      while let block = try sequence() {
        let cursor = try wireForm.reader(of: block)
        while try cursor.next() {
          cursor.appendJSON(to: &buffer)
          // All events get the same time here, so they are sorted by device and number.
          unsafe series.add(buffer.bytes, at: Instant(milliseconds: 0), cursor.device, cursor.emission, side: side)
          buffer.truncate(to: 0)
        }
        if series.isFull { try lines.append(&series) }
      }
    }
    try lines.append(&series)
  }

  private func sequences() throws -> [BlockSequence] { try sink.store.ledger.sequences([.stored(by: sink.run)]) }

  private var wireForm: WireForm { request.platform.storeFormat.wireForm }
}

/// The behavior of a device as shown by its events.
struct DeviceBehavior: Equatable {
  private(set) var outline = DeviceOutline()
  /// A digest of the events' bytes, to distinguish events that differ only in attributes.
  private var digest: UInt64 = 0xcbf2_9ce4_8422_2325

  fileprivate mutating func add(_ event: [UInt8], _ request: RunRequest) throws {
    for byte in event { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
    request.platform.outline(try JSONNode.parse(event, options: .nulCharacters), request.settings, into: &outline)
  }
}

extension Pipeline {
  /// Processes the job's inputs as if the job had never run.
  ///
  /// - Throws: the errors of a dry run.
  package func processAnew() throws -> ProcessedEvents {
    var request = request
    request.mode = .dryRun(sends: false)
    request.processesAnew = true
    let pipeline = Pipeline(request, monitor: monitor, interruption: interruption)
    let preparation = try pipeline.prepare()
    let storage = try pipeline.openStorage(preparation)
    var outcome = RunOutcome(report: RunReport(request))
    _ = try pipeline.decide(preparation, storage, &outcome)
    return ProcessedEvents(request, outcome, storage.sink)
  }
}
