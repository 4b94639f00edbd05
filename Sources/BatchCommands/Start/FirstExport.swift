import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchMaps
import BatchPlatform
import FoundationEssentials

/// An export that a first job reads: what it is, and the map that reads it.
struct FirstExport {
  /// Of a map that is proposed, in the folder of the job.
  static let mapFile = "map.json"

  /// Relative to the folder of the job where it can be.
  private(set) var path: String
  private(set) var kind = InputKind.events
  /// A preset, or ``mapFile``; nil for records of the project's own shape.
  private(set) var map: String?
  /// Of the map that is proposed.
  private(set) var document: String?
  /// That of the job: the one that was named, or the one that the types of the records mean something to.
  let platform: any PlatformCommands
  /// What was found, for people.
  private(set) var notes: [String] = []
  /// Fields that somebody has to fill in, in the map.
  private(set) var missing: [String] = []

  /// - Parameter named: the platform that somebody named.
  /// - Throws: `InputError`, `IngestFailure`, `ExitCode` where no map can be proposed, which was told.
  init(_ file: String, platform named: (any PlatformCommands)?, folder: String) throws {
    let current = FileManager.default.currentDirectoryPath
    path = PathText.relative(
      PathText.resolve(file, in: current),
      to: PathText.resolve(folder, in: current))
    let first = named ?? PlatformName.first.commands
    let input = try InputFiles.find([InputPattern(.events, file)], in: current, isOfJob: false).files.first
    guard let input, let firstVocabulary = Platforms.installed[first.platform.name]?.vocabulary else {
      platform = first
      return
    }
    let form = try TextForm(of: input)
    let shown = file.printable
    if let form, form.mapWords.isEmpty, form != .sqlite { throw Self.refusal("\(shown): error: \(form.words)") }
    func proposal(for platform: any PlatformCommands) throws -> MapProposal {
      try MapProposal(
        of: input, form: form?.mapWords ?? [], eventType: platform.firstJob.ownEvent,
        vocabulary: Platforms.installed[platform.platform.name]?.vocabulary ?? firstVocabulary)
    }
    let looked = try proposal(for: first)
    // Of a pipe nobody knows it before.
    if input.size == 0, looked.records == 0 { throw Self.refusal("\(shown): error: the file is empty") }
    let platform = named ?? Self.platform(for: looked.types)
    self.platform = platform
    if platform.platform.name != first.platform.name {
      notes = [
        "\(shown): most of its records mean something to '\(platform.platform.name)', which the job has as its destination; "
          + "--platform names another"
      ]
    }
    let proposal = try proposal(for: platform)
    let vocabulary = Platforms.installed[platform.platform.name]?.vocabulary ?? firstVocabulary
    if form == nil, let kind = proposal.ownKind ?? proposal.ownKindByRecord {
      self.kind = kind
      notes.insert("\(shown): records as they are read without a map, as \(kind.name)", at: 0)
      return
    }
    if let form, let own = proposal.ownMap(form.mapWords, types: vocabulary.dictionary.values["type"] ?? []),
      let kind = proposal.ownKind
    {
      self.kind = kind
      (map, document) = (Self.mapFile, own.document)
      notes += [
        "\(shown): \(form.name) of records as they are read without a map, as \(kind.name); the map takes each field as it is"
      ]
      if !own.unread.isEmpty {
        notes.append("  not read, because records have no such field: \(own.unread.joined(separator: ", ").printable)")
      }
      return
    }
    if let fit = try FittingPreset(input, form, vocabulary, platform.platform.presets) {
      (map, kind, document) = (fit.document == nil ? fit.name : Self.mapFile, fit.kind, fit.document)
      notes += ["\(shown): \(fit.words)"] + fit.others.map { "  \($0)" }
      return
    }
    // Those that only a preset finds, as in a store, are none to the proposal.
    guard proposal.records > 0 else {
      throw Self.refusal("\(shown): error: neither JSON objects nor a table are in it")
    }
    let what = form.map { "\($0.name); " } ?? ""
    let records = proposal.records.counted("record")
    let outcome =
      proposal.document == nil
      ? "no map can be proposed" : proposal.missing.isEmpty ? "a map is proposed:" : "a map is begun:"
    notes.append("\(shown): \(what)no preset reads it; of \(records) \(outcome)")
    for field in proposal.fields {
      let remark = field.remark.isEmpty ? "" : " (\(field.remark.printable))"
      notes.append("  \(field.name): \(field.path.printable), confidence \(field.confidence.rawValue)\(remark)")
    }
    missing = proposal.missing
    guard let document = proposal.document else {
      for note in notes { Streams.note(note) }
      let names = missing.joined(separator: ", ")
      throw Self.refusal("\(shown): error: nothing looks like \(names); write a map (docs/maps.md)")
    }
    notes.append("  params: all other members")
    (map, self.document) = (Self.mapFile, document)
  }

  /// Tells why nothing is written.
  private static func refusal(_ words: String) -> ExitCode {
    Streams.note(words)
    return ExitCode(.inputRefused)
  }

  /// The platform that most records mean something to; of equal ones the first.
  private static func platform(for types: [String: Int]) -> any PlatformCommands {
    var best: (commands: any PlatformCommands, records: Int) = (PlatformName.first.commands, 0)
    for commands in InstalledPlatforms.all {
      let meant = Set(commands.firstJob.types)
      let records = types.reduce(0) { $0 + (meant.contains($1.key) ? $1.value : 0) }
      if records > best.records { best = (commands, records) }
    }
    return best.commands
  }
}
