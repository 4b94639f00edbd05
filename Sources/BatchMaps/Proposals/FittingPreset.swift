package import BatchFoundation
package import BatchIngest

/// The preset that reads most of an export.
package struct FittingPreset {
  package let map: ForeignMap
  package let kind: InputKind
  package let trial: ExportTrial
  /// The list whose elements are the records; nil for that of the preset.
  private let list: String?

  package var name: String { map.name }

  /// The one that makes records of the most and passes the least over; nil where none takes most of them.
  ///
  /// - Parameters:
  ///   - form: how the file is cut.
  ///   - presets: that are tried; nil for all.
  ///   - record: where a record lies in its line; nil for the line itself.
  ///   - list: whose elements are the records; nil for that of the preset.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package init?(
    _ input: InputFile, _ form: ExportForm, _ vocabulary: any RecordVocabulary, presets: [String]?,
    record: String? = nil, list: String? = nil
  ) throws {
    let cut = try form.words.isEmpty ? nil : ForeignMap(words: form.words + [#""rules": []"#]).form
    let library = MapLibrary(environment: [:], currentDirectory: "/")
    var best: (map: ForeignMap, kind: InputKind, trial: ExportTrial)?
    for preset in Preset.all where presets?.contains(preset.name) ?? true {
      var map = try library.load(preset.name).map
      if let cut, case .lines = map.form { map.form = cut }
      if let list { map.each = try? MapPath(list) }
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
    self.list = list
  }

  /// The document of a map that includes the preset; nil where its name says all.
  package func document(_ form: ExportForm) -> String? {
    guard let own = Preset.named(name), !form.words.isEmpty || list != nil, !own.hasForm else { return nil }
    let each = (list ?? map.each?.text).map { ["\"each\": \(JSONString.quoted($0))"] } ?? []
    let words = form.words + each + ["\"include\": [\(JSONString.quoted(name))]"]
    return "{\n\(words.map { "  \($0)" }.joined(separator: ",\n"))\n}\n"
  }
}
