package import BatchFoundation
package import BatchIngest

/// The entry of a job that would read a file which its own entry does not.
package struct LikelyEntry: Sendable, Equatable {
  package var kind: InputKind
  /// A preset; nil for records that are read without a map.
  package var preset: String?
  /// Whose records they are, such as `Segment`.
  package var vendor: String
  /// Whether a map has to say how the file is cut, besides the preset.
  package var needsMap: Bool
  /// Nil where it is that of the entry.
  package var otherKind: InputKind?

  /// Looks at the first records of a file. Reads it once for each preset, so it is for files that went wrong.
  ///
  /// - Parameters:
  ///   - file: as its entry reads it, with its map; a pipe is not read.
  ///   - presets: those to try; nil for all.
  /// - Returns: nil where nothing is recognised, and where the entry fits already.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package init?(of file: InputFile, _ vocabulary: any RecordVocabulary, presets: [String]?) throws {
    guard !file.isPipe else { return nil }
    let form = try ExportForm(of: file)
    if form == .lines, let kind = try ExportRecords(of: file, form, vocabulary).ownKind {
      if kind == file.kind, file.map == nil { return nil }
      (self.kind, vendor, needsMap) = (kind, "", false)
      otherKind = kind == file.kind ? nil : kind
      return
    }
    guard !form.isTable, let fit = try FittingPreset(file, form, vocabulary, presets: presets),
      let preset = Preset.named(fit.name),
      try fit.trial.accepted > (file.map == nil ? 0 : ExportTrial(of: [file], vocabulary).accepted)
    else { return nil }
    (kind, self.preset, needsMap) = (fit.kind, fit.name, form.isDocuments)
    vendor = preset.vendor
    otherKind = kind == file.kind ? nil : kind
  }

  /// What to write in the job, in a sentence.
  package var words: String {
    let place = otherKind.map { " under '\($0.name)'" } ?? ""
    guard let preset else {
      return "They look like records as they are read without a map: name the file\(place) and no map"
    }
    if needsMap {
      return "They look like \(vendor) records in another form: engage-batch init FOLDER --from FILE writes the map"
    }
    return "They look like \(vendor) records: write {\"path\": ..., \"map\": \"\(preset)\"}\(place)"
  }
}
