package import BatchFoundation
package import BatchIngest

/// The preset that reads most of an export.
package struct FittingPreset {
  package let name: String
  package let kind: InputKind
  /// Of a map that includes it, where the file has to be cut otherwise.
  package let document: String?
  /// What it does, for people.
  package let words: String
  /// What it does not take, by reason.
  package let others: [String]
  /// Lines that it makes of the first records.
  let accepted: Int

  /// Others may call a device, a time and a name like a vendor; then nothing more of their records is read.
  private static let telling = ["params", "payload", "recordId", "mobileUserId", "device", "url", "eventUUID"].map {
    "\"\($0)\":"
  }

  /// Reasons that are told.
  private static let mostTold = 8

  private struct Trial {
    var accepted = 0
    var refused = 0
    var unread = 0
    /// By reason.
    var others: [String: Int] = [:]
    var hasMore = false

    var outcomes: Int { accepted + others.values.reduce(0, +) }
  }

  /// The one that makes records of the most and passes the least over; nil where none takes most of them.
  ///
  /// - Parameters:
  ///   - form: what the file is, where that is not lines of JSON.
  ///   - presets: those to try; nil for all.
  package init?(
    _ input: InputFile, _ form: BatchIngest.TextForm?, _ vocabulary: any RecordVocabulary, _ presets: [String]?
  ) throws {
    let library = MapLibrary(environment: [:], currentDirectory: "/")
    let isCut = form?.isDocuments ?? false
    var best: (map: ForeignMap, kind: InputKind, trial: Trial)?
    for preset in Preset.all where presets?.contains(preset.name) ?? true {
      var map = try library.load(preset.name).map
      if isCut { map = map.ofDocuments }
      for kind in [InputKind.events, .notifications] {
        let trial = try Self.trial(map, of: input, as: kind, vocabulary)
        guard trial.hasMore, trial.refused < trial.accepted else { continue }
        if (trial.accepted, -trial.unread) > (best?.trial.accepted ?? 0, -(best?.trial.unread ?? 0)) {
          best = (map, kind, trial)
        }
      }
    }
    guard let best else { return nil }
    (name, kind, accepted) = (best.map.name, best.kind, best.trial.accepted)
    document = isCut ? best.map.includingDocument : nil
    let what = isCut ? "\(form?.name ?? ""); " : ""
    let source = "as \(kind.name) (docs/maps.md has what becomes what)"
    words =
      best.trial.refused == 0
      ? "\(what)read by the preset '\(name)' \(source)"
      : "\(what)the preset '\(name)' reads \(best.trial.accepted) of \(best.trial.outcomes) \(source)"
    let told = best.trial.others.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
    others = told.count > Self.mostTold ? told.prefix(Self.mostTold) + ["…"] : told
  }

  private static func trial(
    _ map: ForeignMap, of input: InputFile, as kind: InputKind, _ vocabulary: any RecordVocabulary
  ) throws -> Trial {
    var file = input
    file.kind = kind
    file.map = InputMap(map, identity: map.name)
    let mapper = map.makeMapper()
    var found = Trial()
    try file.tryMap(vocabulary, limit: MapProposal.recordLimit) { trial in
      for outcome in trial.outcomes {
        switch outcome {
        case .line(let line, nil):
          found.accepted += 1
          found.hasMore = found.hasMore || telling.contains { line.contains($0) }
        case .leftOut(let reason): found.others["left out: \(reason)", default: 0] += 1
        case .line(_, let fault?), .refused(let fault):
          found.refused += 1
          found.others["refused: \(fault)", default: 0] += 1
        }
      }
      found.unread += map.unreadMembers(of: trial.raw, mapper).count
    }
    return found
  }
}
