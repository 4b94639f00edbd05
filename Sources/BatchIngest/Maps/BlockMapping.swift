package import BatchFoundation

/// One thread's mapping of a block's foreign records to lines in the project's own format.
struct BlockMapping: ~Copyable {
  /// The mappers, by identity of the map.
  private var mappers: [String: any RecordMapper] = [:]

  /// Maps the records of a block; does nothing for a file without a map.
  mutating func map(_ block: LineBlock) {
    guard !block.isPart, let map = block.files.isEmpty ? nil : block.files[Int(block.file)].map else { return }
    let mapper = mappers[map.identity] ?? map.map.makeMapper()
    mappers[map.identity] = mapper
    block.mapped.removeAll()
    var records = BlockLines(block)
    while let record = records.next() {
      if !record.text.isEmpty { block.mapped.add(record, mapper) }
    }
    block.addWarnings(block.mapped.warnings)
    block.mapped.isFilled = true
  }
}

@safe struct MappedBlock: ~Copyable {
  /// Whether the block's lines come from a map.
  fileprivate(set) var isFilled = false
  private var outcomes = MappedOutcomes()
  /// The foreign records, each with the end of its outcomes; the outcomes of a record are consecutive.
  private var origins: [(record: BlockLine, end: Int)] = []

  struct Place {
    fileprivate var outcome = 0
    fileprivate var origin = 0
    fileprivate var element: UInt16 = 0
  }

  enum Entry {
    case line(BlockLine)
    case leftOut(BlockLine, String)
    case refused(BlockLine, Rejection)
  }

  fileprivate var warnings: [RecordWarning] {
    var origin = 0
    return outcomes.warnings.map { outcome, warning in
      while outcome >= origins[origin].end { origin += 1 }
      let first = origin > 0 ? origins[origin - 1].end : 0
      return RecordWarning(
        line: origins[origin].record.number, element: UInt16(truncatingIfNeeded: outcome - first), warning: warning)
    }
  }

  mutating func removeAll() {
    isFilled = false
    outcomes.removeAll()
    origins.removeAll(keepingCapacity: true)
  }

  fileprivate mutating func add(_ record: BlockLine, _ mapper: any RecordMapper) {
    let (count, end) = (outcomes.count, outcomes.lines.end)
    unsafe mapper.map(record.bytes, into: &outcomes)
    if outcomes.count - count > MappedOutcomes.mostOfOneRecord {
      outcomes.truncate(to: count, end)
      outcomes.refuse(Rejection(reason: .lineTooLong))
    }
    origins.append((record, outcomes.count))
  }

  /// Returns the next entry; its line is valid until the block changes.
  @inline(__always)
  func next(_ place: inout Place) -> Entry? {
    guard place.outcome < outcomes.count else { return nil }
    while place.outcome >= origins[place.origin].end {
      place.origin += 1
      place.element = 0
    }
    defer {
      place.outcome += 1
      place.element &+= 1
    }
    var line = origins[place.origin].record
    line.isASCII = false
    line.isMapped = true
    line.element = place.element
    switch outcomes.outcomes[place.outcome] {
    case .line(let own, let rule):
      line.rule = rule
      unsafe line.bytes = outcomes.lines.bytes(of: own)
      line.values = outcomes.lines.values(of: own)
      return .line(line)
    case .leftOut(let reason): return .leftOut(line, reason)
    case .refused(let rejection): return .refused(line, rejection)
    }
  }
}

/// The result of mapping one foreign record of a file, for the author of its map.
package struct MapTrial: Sendable {
  package enum Outcome: Sendable, Equatable {
    /// The line that the map wrote, and its fault, which is nil if the line is a record.
    case line(String, fault: String?)
    case leftOut(String)
    case refused(String)
  }

  /// The number of the record in its file.
  package var number: UInt64
  package var raw: [UInt8]
  package var outcomes: [Outcome] = []
  package var warnings: [LineWarning] = []
  /// The devices and times of the outcomes that are records.
  package var records: [(device: String, time: Instant)] = []
  /// The fields of those records that the platform ignores.
  package var ignored: [String] = []
}

extension InputFile {
  /// Passes on the results of applying the file's map to its first records or, without a map, of reading its lines as
  /// records.
  ///
  /// - Parameter limit: the maximum number of foreign records.
  /// - Throws: `IngestFailure`, `InputChanged`, or what `body` throws.
  package func tryMap(_ vocabulary: RecordVocabulary, limit: Int, _ body: (MapTrial) throws -> Void) throws {
    let options = IngestOptions(maxLineBytes: 16 << 20, memoryLimit: 1 << 26, workers: 1)
    let source = LineSource(InputFiles(files: [self]), options, inOrder: true) {}
    let block = LineBlock(capacity: options.blockBytes)
    var mapping = BlockMapping()
    var reader = LineReader(vocabulary)
    var head = RecordHead()
    var left = limit
    while left > 0, try source.next(block) != nil {
      mapping.map(block)
      var place = MappedBlock.Place()
      var trial: MapTrial?
      var lines = BlockLines(block)
      while left > 0, let entry = map == nil ? lines.next().map(MappedBlock.Entry.line) : block.mapped.next(&place) {
        if map == nil, case .line(let line) = entry, line.text.isEmpty { continue }
        let known = reader.decoder.unknownFields.counts
        let (record, outcome) = outcome(of: entry, block, &reader, &head)
        if let done = trial, done.number != record.number {
          try body(done)
          left -= 1
          trial = nil
        }
        if trial == nil {
          trial = unsafe MapTrial(number: record.number, raw: Array(record.raw))
          trial?.warnings = block.warnings(of: record.number).map(\.warning)
        }
        trial?.outcomes.append(outcome)
        for (name, count) in reader.decoder.unknownFields.counts where count != known[name] {
          trial?.ignored.append(String(decoding: name, as: UTF8.self))
        }
        if case .line(_, nil) = outcome { trial?.records.append((head.device.description, head.timestamp)) }
      }
      if left > 0, let trial {
        try body(trial)
        left -= 1
      }
      for finding in block.findings where left > 0 {
        try body(
          MapTrial(
            number: finding.line, raw: finding.raw,
            outcomes: [.refused("\(finding.reason.rawValue): \(finding.detail)")]))
        left -= 1
      }
    }
  }

  private func outcome(
    of entry: MappedBlock.Entry, _ block: LineBlock, _ reader: inout LineReader, _ head: inout RecordHead
  ) -> (BlockLine, MapTrial.Outcome) {
    func words(_ rejection: Rejection, _ line: BlockLine) -> String {
      let line = line.quarantined(rejection, block)
      return line.detail.isEmpty ? line.reason.rawValue : "\(line.reason.rawValue): \(line.detail)"
    }
    switch entry {
    case .line(let line):
      let position = RecordPosition(file: 0, line: line.number)
      let rejection = reader.read(line, position: position, into: &head)
      return (line, .line(line.text.description, fault: rejection.map { words($0, line) }))
    case .leftOut(let line, let reason): return (line, .leftOut(reason))
    case .refused(let line, let rejection): return (line, .refused(words(rejection, line)))
    }
  }
}
