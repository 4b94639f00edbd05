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

  /// - Parameter named: the platform that somebody named.
  /// - Throws: `InputError`, `IngestFailure`, `ExitCode` where no map can be proposed, which was told.
  init(_ file: String, platform named: (any PlatformCommands)?, folder: String) throws {
    let current = FileManager.default.currentDirectoryPath
    path = Self.relative(
      BatchConfiguration.FilePath.resolve(file, in: current),
      to: BatchConfiguration.FilePath.resolve(folder, in: current))
    let first = named ?? PlatformName.first.commands
    let input = try InputFiles.find([InputPattern(.events, file)], in: current, isOfJob: false).files.first
    guard let input, let firstVocabulary = Platforms.installed[first.platform.name]?.vocabulary else {
      platform = first
      return
    }
    let form = try TextForm(of: input)
    let shown = file.printable
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
    if let preset = try Self.preset(of: input, vocabulary, platform) {
      (map, kind) = (preset.name, preset.kind)
      notes += [
        "\(shown): read by the preset '\(preset.name)' as \(preset.kind.name) (docs/maps.md has what becomes what)"
      ]
      return
    }
    // Those that only a preset finds, as in a store, are none to the proposal.
    guard proposal.records > 0 else {
      throw Self.refusal("\(shown): error: neither JSON objects nor a table are in it")
    }
    let what = form.map { "\($0.name); " } ?? ""
    let records = proposal.records.counted("record")
    notes.append(
      "\(shown): \(what)no preset reads it; "
        + (proposal.document == nil ? "of \(records) no map can be proposed" : "of \(records) a map is proposed:"))
    for field in proposal.fields {
      let remark = field.remark.isEmpty ? "" : " (\(field.remark.printable))"
      notes.append("  \(field.name): \(field.path.printable), confidence \(field.confidence.rawValue)\(remark)")
    }
    guard let document = proposal.document else {
      notes.append(
        "\(shown): error: nothing looks like \(proposal.missing.joined(separator: ", ")); write a map (docs/maps.md)")
      for note in notes { Streams.note(note) }
      throw ExitCode(.inputRefused)
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

  /// Others may call a device, a time and a name like a vendor; then nothing more of their records is read.
  private static let telling = ["params", "payload", "recordId", "mobileUserId", "device", "url", "eventUUID"].map {
    "\"\($0)\":"
  }

  /// The preset that makes records of the most of them and passes the least over.
  private static func preset(
    of input: InputFile, _ vocabulary: any RecordVocabulary, _ platform: any PlatformCommands
  ) throws -> (name: String, kind: InputKind)? {
    let library = MapLibrary(environment: [:], currentDirectory: "/")
    var best: (name: String, kind: InputKind, accepted: Int, unread: Int)?
    // The others make records of an app, which a game does not have.
    for preset in Preset.all where platform.firstJob.presets?.contains(preset.name) ?? true {
      let map = try library.load(preset.name).map
      for kind in [InputKind.events, .notifications] {
        var file = input
        file.kind = kind
        file.map = InputMap(map, identity: preset.name)
        var (accepted, refused, unread) = (0, 0, 0)
        var hasMore = false
        try file.tryMap(vocabulary, limit: MapProposal.recordLimit) { trial in
          for outcome in trial.outcomes {
            switch outcome {
            case .line(let line, nil):
              accepted += 1
              hasMore = hasMore || Self.telling.contains { line.contains($0) }
            case .leftOut: break
            default: refused += 1
            }
          }
          unread += map.unreadMembers(of: trial.raw).count
        }
        guard hasMore, refused * 5 <= accepted else { continue }
        if (accepted, -unread) > (best?.accepted ?? 0, -(best?.unread ?? 0)) {
          best = (preset.name, kind, accepted, unread)
        }
      }
    }
    return best.map { ($0.name, $0.kind) }
  }

  private static func relative(_ path: String, to folder: String) -> String {
    let parts = path.split(separator: "/")
    let base = folder.split(separator: "/")
    let common = zip(parts, base).prefix { $0 == $1 }.count
    return (base.dropFirst(common).map { _ in ".." } + parts.dropFirst(common)).joined(separator: "/")
  }
}
