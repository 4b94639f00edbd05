import BatchFoundation

extension RunReport {
  /// The limits of quarantined samples and of places per warning in a sum of reports.
  private static let quarantineSamples = 20
  private static let warningPlaces = 5

  /// Adds the records and events of a report about other devices of the same export. Figures of the platform, which
  /// adds them itself, store states and service answers stay unchanged.
  package mutating func add(_ other: RunReport) {
    summary.records.add(other.summary.records)
    summary.quarantineReasons.merge(other.summary.quarantineReasons, uniquingKeysWith: +)
    summary.eventsByType.merge(other.summary.eventsByType, uniquingKeysWith: +)
    summary.rewind.devices += other.summary.rewind.devices
    summary.rewind.records += other.summary.rewind.records
    summary.rewind.added += other.summary.rewind.added
    quarantinedEvents += other.quarantinedEvents
    activity += other.activity
    quarantine = Array(
      (quarantine + other.quarantine).sorted { (ByteText($0.file), $0.line) < (ByteText($1.file), $1.line) }
        .prefix(Self.quarantineSamples))
    for tally in other.warnings { add(tally) }
    warnings.sort { $0.kind.precedesByBytes($1.kind) }
    for field in other.unknownFields { add(field) }
    unknownFields.sort { $0.name.precedesByBytes($1.name) }
    notes += other.notes.filter { !notes.contains($0) }
  }

  private mutating func add(_ tally: WarningTally) {
    guard let place = warnings.firstIndex(where: { $0.kind.utf8.elementsEqual(tally.kind.utf8) }) else {
      return warnings.append(tally)
    }
    warnings[place].occurrences += tally.occurrences
    warnings[place].first = Array(
      (warnings[place].first + tally.first).sorted { (ByteText($0.file), $0.line) < (ByteText($1.file), $1.line) }
        .prefix(Self.warningPlaces))
  }

  private mutating func add(_ field: UnknownField) {
    if let place = unknownFields.firstIndex(where: { $0.name.utf8.elementsEqual(field.name.utf8) }) {
      unknownFields[place].records += field.records
    } else {
      unknownFields.append(field)
    }
  }
}

extension RunSummary.Records {
  package mutating func add(_ other: RunSummary.Records) {
    read += other.read
    accepted += other.accepted
    duplicates += other.duplicates
    outOfWindow += other.outOfWindow
    if let others = other.forgotten { forgotten = (forgotten ?? 0) + others }
    quarantined += other.quarantined
    if let others = other.leftOut { leftOut = (leftOut ?? [:]).merging(others, uniquingKeysWith: +) }
  }
}
