package import BatchFoundation

/// The result of mapping one foreign record of a file, for the author of its map.
package struct MapTrial: Sendable {
  package enum Outcome: Sendable, Equatable {
    /// The line that the map wrote, with its fault; nil for a record.
    case line(String, fault: String?)
    case leftOut(String)
    case refused(String)
  }

  /// The number of the record in its file.
  package var number: UInt64
  package var raw: [UInt8]
  package var outcomes: [Outcome] = []
  package var warnings: [LineWarning] = []
  /// The outcomes that are records.
  package var records: [(device: String, time: Instant)] = []
}

extension InputFile {
  /// Passes on the results of the file's map for its first records; without a map, of reading the lines as records.
  ///
  /// - Parameter limit: the maximum number of foreign records.
  /// - Throws: `IngestFailure`, `InputChanged`, or what `body` throws.
  package func tryMap(_ vocabulary: any RecordVocabulary, limit: Int, _ body: (MapTrial) throws -> Void) throws {
    var files = InputFiles.none
    files.files = [self]
    let options = IngestOptions(maxLineBytes: 16 << 20, memoryLimit: 1 << 26, workers: 1)
    let source = LineSource(files, options, inOrder: true) {}
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
