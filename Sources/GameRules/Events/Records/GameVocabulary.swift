import BatchFoundation
package import BatchIngest

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
