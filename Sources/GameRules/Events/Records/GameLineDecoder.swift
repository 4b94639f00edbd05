package import BatchFoundation
package import BatchIngest

/// Decodes lines of a game's job for one thread.
package final class GameLineDecoder: LineDecoder {
  private var reader = GameRecordReader()
  package private(set) var unknownFields = UnknownFields()
  private let arena = Arena(blockSize: 1 << 12)

  /// The current record; its texts are valid until the next line is decoded.
  package var record: GameRecord { reader.record }

  package func prepare(_ lines: [BlockLine]) { reader.keys.prepare(lines) }

  package func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    unknownFields.drop()
    let faults = reader.read(object, of: line, unknown: &unknownFields)
    if let rejection = faults.first { return rejection }
    unknownFields.commit()
    head.notes = reader.fields.notes
    fill(&head)
    return nil
  }

  package func decode(_ link: PlainLink, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    reader.read(link, of: line)
    fill(&head)
    return nil
  }

  private func fill(_ head: inout RecordHead) {
    head.device = reader.record.device
    head.timestamp = reader.record.timestamp
    head.type = reader.record.type.rawValue
    head.isSample = false
    head.identity = reader.record.eventUUID.map(identity)
    head.recordKey = head.identity.map { max($0.low, 1) } ?? 0
  }

  /// Returns an identity that is equal for stored events with the same user and `eventUUID` (reference deltadna 2).
  private func identity(_ eventUUID: Text) -> LineDigest {
    let user = reader.record.device
    arena.reset()
    // No text contains a NUL, so different pairs give different bytes, and no line of JSON starts with one.
    let memory = unsafe arena.allocate(user.count + eventUUID.count + 2).assumingMemoryBound(to: UInt8.self)
    unsafe memory[0] = 0
    unsafe (memory + 1).update(from: user.base, count: user.count)
    unsafe memory[user.count + 1] = 0
    for index in 0..<eventUUID.count { unsafe memory[user.count + 2 + index] = Text.lowered(eventUUID[index]) }
    return unsafe LineDigest(line: Text(base: memory, count: user.count + eventUUID.count + 2), kind: .events)
  }

  package func forEachPerson(_ body: (PersonID.Kind, Text) -> Void) {
    if let id = record.userID { body(.user, id) }
    // This may be a cross-game id; other values, such as a push token, match nobody.
    if let id = record.value { body(.user, id) }
  }

  package var payloadBound: Int { reader.record.payloadBound }

  package func writePayload(at start: UnsafeMutableRawPointer) -> Int { unsafe reader.record.writePayload(at: start) }
}

extension RecordVocabulary {
  /// The records that exports for a game's job may contain (reference deltadna 2).
  package static var game: RecordVocabulary {
    var game = RecordVocabulary(GameRecordType.dictionary) { GameLineDecoder() }
    // The other presets produce records for apps, which games do not use.
    game.presets = ["sdk-store"]
    game.own = OwnRecords(
      makeDecoder: game.makeDecoder, contains: GameRecordType.isOfGames,
      name: { GameRecordType(rawValue: $0)?.name ?? "" })
    return game
  }
}
