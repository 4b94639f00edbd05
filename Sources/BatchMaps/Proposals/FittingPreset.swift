package import BatchFoundation
package import BatchIngest

/// The preset that reads most of an export.
package struct FittingPreset {
  package let map: ForeignMap
  package let kind: InputKind
  package let trial: ExportTrial

  package var name: String { map.name }

  /// The one that makes records of the most and passes the least over; nil where none takes most of them.
  ///
  /// - Parameters:
  ///   - isCut: whether the file is no lines of JSON, but JSON all the same.
  ///   - presets: that are tried; nil for all.
  ///   - record: where a record lies in its line; nil for the line itself.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package init?(
    _ input: InputFile, isCut: Bool, _ vocabulary: any RecordVocabulary, presets: [String]?, record: String? = nil
  ) throws {
    let library = MapLibrary(environment: [:], currentDirectory: "/")
    var best: (map: ForeignMap, kind: InputKind, trial: ExportTrial)?
    for preset in Preset.all where presets?.contains(preset.name) ?? true {
      var map = try library.load(preset.name).map
      if isCut { map = map.ofDocuments }
      if let record, let inner = map.reading(record: record) { map = inner }
      for kind in [InputKind.events, .notifications] {
        var file = input
        (file.kind, file.map) = (kind, InputMap(map, identity: map.name))
        let trial = try ExportTrial(of: [file], vocabulary)
        guard trial.hasMore, trial.refused < trial.accepted else { continue }
        if (trial.accepted, -trial.unreadCount) > (best?.trial.accepted ?? 0, -(best?.trial.unreadCount ?? 0)) {
          best = (map, kind, trial)
        }
      }
    }
    guard let best else { return nil }
    (map, kind, trial) = best
  }
}
