package import BatchFoundation
package import BatchIngest

/// The preset that reads an export best, with the result of its trial.
package struct FittingPreset {
  package let map: ForeignMap
  package let kind: InputKind
  package let trial: ExportTrial
  /// The path of the list of records; nil for the preset's own.
  private let list: String?

  package var name: String { map.name }

  /// Finds the preset that accepts the most records or, if several do, the one that leaves the fewest members unread;
  /// nil if none accepts more records than it refuses.
  ///
  /// - Parameters:
  ///   - record: the path of a record in its line; nil for the line itself.
  ///   - list: the path of the list of records; nil for the preset's own.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package init?(
    _ input: InputFile, _ form: ExportForm, _ vocabulary: RecordVocabulary, record: String? = nil, list: String? = nil
  ) throws {
    let cut = try form.words.isEmpty ? nil : ForeignMap(words: form.words + [#""rules": []"#]).form
    let library = MapLibrary(environment: [:], currentDirectory: "/")
    var best: (map: ForeignMap, kind: InputKind, trial: ExportTrial)?
    for preset in Preset.all where vocabulary.presets?.contains(preset.name) ?? true {
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

  /// Returns the document of a map that includes the preset; nil if the preset alone suffices.
  package func document(_ form: ExportForm) -> String? {
    guard let own = Preset.named(name), !form.words.isEmpty || list != nil, !own.hasForm else { return nil }
    let each = (list ?? map.each?.text).map { ["\"each\": \(JSONString.quoted($0))"] } ?? []
    let words = form.words + each + ["\"include\": [\(JSONString.quoted(name))]"]
    return "{\n\(words.map { "  \($0)" }.joined(separator: ",\n"))\n}\n"
  }
}

/// The entry that a job needs to read a file that its current entry cannot read.
package struct LikelyEntry: Sendable, Equatable {
  package var kind: InputKind
  /// The path of the record in its line; nil for the whole line.
  package var record: String?
  /// The name of the preset; nil for records that are read without a map.
  package var preset: String?
  /// The name of the vendor, such as `Segment`; empty without a preset.
  package var vendor: String
  /// Whether the preset does not suffice, because a map must define how the file is split into records.
  package var needsMap: Bool
  /// The kind of input under which to list the file; nil to keep the current entry's kind.
  package var otherKind: InputKind?

  /// Examines the first records of a file once for each preset, which is worthwhile only if the file could not be read.
  ///
  /// - Parameter file: the file with its current map; a pipe is not read.
  /// - Returns: nil if nothing is recognized or the current entry already fits.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package init?(of file: InputFile, _ vocabulary: RecordVocabulary) throws {
    guard !file.isPipe else { return nil }
    let form = try ExportForm(of: file)
    guard !form.isTable else { return nil }
    let records = try ExportRecords(of: file, form, vocabulary)
    let accepted = try file.map == nil ? 0 : ExportTrial(of: [file], vocabulary).accepted
    let places: [[String]] = form == .lines ? [[]] + records.envelopes : [[]]
    for path in places {
      let record = path.isEmpty ? nil : ExportColumns.written(path)
      if form == .lines, let kind = records.inside(path).ownKind {
        let isRead = file.map == nil ? record == nil : record != nil && accepted > 0
        if kind == file.kind, isRead { return nil }
        (self.kind, self.record, vendor, needsMap) = (kind, record, "", false)
        otherKind = kind == file.kind ? nil : kind
        return
      }
      guard let fit = try FittingPreset(file, form, vocabulary, record: record),
        let preset = Preset.named(fit.name), fit.trial.accepted > accepted
      else { continue }
      (kind, self.record, self.preset, needsMap) = (fit.kind, record, fit.name, form.isDocuments)
      vendor = preset.vendor
      otherKind = kind == file.kind ? nil : kind
      return
    }
    return nil
  }

  /// The change to the job, as a sentence.
  package var words: String {
    let place = otherKind.map { " under '\($0.name)'" } ?? ""
    let record = record.map { ", \"record\": \(JSONString.quoted($0))" } ?? ""
    guard let preset else {
      let entry = record.isEmpty ? "" : " as {\"path\": ...\(record)}"
      return "They look like records in this program's own format: list the file\(entry)\(place) without a map"
    }
    if needsMap {
      return
        "They look like \(vendor) records in another form: create a map with 'engage-batch init FOLDER --from FILE'"
    }
    return "They look like \(vendor) records: list the file as {\"path\": ..., \"map\": \"\(preset)\"\(record)}\(place)"
  }
}
