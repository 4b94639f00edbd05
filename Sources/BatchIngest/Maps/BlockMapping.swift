import BatchFoundation

/// One thread's mapping of a block's foreign records to lines in the project's own shape.
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
  private var origins: [Origin] = []

  /// The record that a run of consecutive outcomes came from.
  private struct Origin {
    var record: BlockLine
    var end: Int
  }

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
    origins.append(Origin(record: record, end: outcomes.count))
  }

  /// Returns the next entry; its lines live until the block changes.
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
