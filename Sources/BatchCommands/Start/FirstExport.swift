import BatchFoundation
import BatchIngest
import BatchMaps
import BatchPipeline
import FoundationEssentials

/// An export for a first job: its format, and the map that reads it.
struct FirstExport {
  /// The paths, relative to the job's folder if possible.
  private(set) var paths: [String]
  private(set) var kind = InputKind.events
  /// The name of a preset, or the file of the proposed map; nil for records in the program's own format.
  private(set) var map: String?
  /// The place of a record in its line, for the entry in `inputs`; nil for the whole line, or if the map names it.
  private(set) var record: String?
  /// The document of the proposed map.
  private(set) var document: String?
  /// The platform of the job: the named one, or the one that knows the types of the most records.
  private(set) var platform: any PlatformCommands
  private(set) var notes: [String] = []
  private var preset: ForeignMap?
  /// The work needed before the job can run, with ``mapPlace`` where the map is named; nil if there is none.
  private(set) var toDo: String?

  /// - Parameter files: Paths or patterns.
  /// - Throws: `InputError`, `IngestFailure`, or ``CommandError`` if nothing can be proposed.
  init(
    _ files: [String], platform named: (any PlatformCommands)?, folder: String, hints: MapProposal.Hints
  ) throws {
    let current = FileManager.default.currentDirectoryPath
    paths = files.map {
      PathText.relative(PathText.resolve($0, in: current), to: PathText.resolve(folder, in: current))
    }
    let found = try InputFiles.find(files.map { InputPattern(.events, $0) }, in: current, isOfJob: false).files
    platform = named ?? PlatformName.first.commands
    guard let input = found.first(where: { $0.size > 0 }) ?? found.first else { return }
    let shown = files[0].printable
    let form = try ExportForm(of: input)
    if let refusal = form.refusal { throw CommandError(.inputRefused, "\(shown): error: \(refusal)") }
    let records = try ExportRecords(of: input, form, platform.platform.vocabulary)
    // The size of a pipe is not known before it is read.
    if input.size == 0, records.nodes.isEmpty {
      throw CommandError(.inputRefused, "\(shown): error: the file is empty")
    }
    if named == nil {
      platform = Self.platform(for: records.types)
      if platform.platform.name != PlatformName.first.commands.platform.name {
        notes = [
          "\(shown): the types of the records fit '\(platform.platform.name)' best, so it becomes the destination "
            + "of the job; to choose another, use --platform"
        ]
      }
    }
    do {
      if try !choose(input, form, records, hints, shown), !hints.isEmpty {
        notes.append(
          "  --device, --time, --name, --campaign and --zone have no effect here, because nothing is inferred from the "
            + "values; to read other columns, write a map (docs/maps.md)")
      }
    } catch let error as MapProposal.NoColumn {
      let near =
        NearestName.question(about: error.name, among: error.known)
        ?? "the columns are \(error.known.joined(separator: ", "))"
      throw CommandError(
        .inputRefused, "\(shown): error: there is no column '\(error.name.printable)'; \(near.printable)")
    }
    notes += form.guesses.map { "  \($0.printable)" }
    let files = Array(found.filter { $0.size > 0 || $0 == input }.prefix(Self.mostFiles))
    try describe(files)
    toDo = toDo ?? form.doubt
    try compare(files, form, records)
  }

  /// Chooses how to read the records: as the program's own format, directly or with a map; otherwise with a
  /// fitting preset; otherwise with a map inferred from values, which alone uses the named columns.
  ///
  /// - Returns: whether a map was inferred.
  private mutating func choose(
    _ input: InputFile, _ form: ExportForm, _ records: ExportRecords, _ hints: MapProposal.Hints, _ shown: String
  ) throws -> Bool {
    let vocabulary = platform.platform.vocabulary
    let types = vocabulary.dictionary.values["type"] ?? []
    // Lines of links are not JSON and look like a table.
    let own = records.ownMap(form, types: types)
    let isLine = !form.isDocuments && form.isTable == (records.ownKind == nil)
    if isLine, let kind = records.ownKind ?? (form.isTable && records.areLinks ? .deepLinks : nil) {
      let asItIs = try trial(of: [input], as: kind)
      let mapped = try own.map { try trial(of: [input], as: kind, document: $0.document).accepted } ?? 0
      if asItIs.accepted > 0,
        asItIs.accepted * 10 >= asItIs.outcomes * 9 || records.ownKind != nil && mapped <= asItIs.accepted
      {
        self.kind = kind
        notes.insert("\(shown): records in the program's own format, read without a map, as \(kind.name)", at: 0)
        return false
      }
    }
    if let own, let kind = records.ownKind {
      self.kind = kind
      (map, document) = (MapProposal.file, own.document)
      let what =
        form.name.isEmpty
        ? "records in the program's own format whose values require a map"
        : "\(form.name) of records in the program's own format"
      notes.append("\(shown): \(what), as \(kind.name); the map copies each field")
      return false
    }
    let keyed = try records.byKey.first { try MapProposal(of: $0.records, types: types).isOfRecords }
    if let first = keyed?.first {
      let place = first.dropLast().map { "[\(JSONString.quoted($0))]" }.joined()
      throw CommandError(
        .inputRefused,
        ("\(shown): error: records under keys of their own, such as '\(ExportColumns.written(first))', which maps cannot read; "
          + "export lines or an array, for example with 'jq -c .\(place)[]', or name the one to read as \"record\" in a map")
          .printable)
    }
    let outer = try MapProposal(of: records, types: types, hints: hints)
    var (best, envelope) = (outer, [String]())
    let list = records.ofList
    // Plain columns with the names of a vendor's members may come from any source.
    let presetForm = form.isTable && !records.haveJSON ? .lines : form
    if !best.missing.isEmpty, let list {
      let inner = try MapProposal(of: list, types: types, hints: hints).completed(by: outer)
      if inner.missing.count < best.missing.count { best = inner }
    }
    for path in best.isOfLines ? records.envelopes : [] {
      let begin = ExportColumns.written(path) + "."
      let inner = try? MapProposal(of: records.inside(path), types: types, hints: hints.inside(begin))
        .completed(by: outer, besides: begin)
      // Values inside a string are not in any column of the line, and a column that the user named may be outside.
      guard let inner,
        inner.missing.count < best.missing.count
          || inner.missing.count == best.missing.count && inner.unsure.count <= best.unsure.count
            && inner.kind == best.kind
            && ["deviceId", "name"].allSatisfy({ best.path(of: $0)?.hasPrefix(begin) ?? true })
      else { continue }
      (best, envelope) = (inner, path)
    }
    let places: [(path: [String], list: String?)] = [([], nil), ([], list?.list)] + records.envelopes.map { ($0, nil) }
    for (path, list) in places.enumerated().filter({ $0.offset != 1 || $0.element.list != nil }).map(\.element) {
      let place = path.isEmpty ? nil : ExportColumns.written(path)
      // Records in the program's own format, in an envelope.
      if let place, let kind = records.inside(path).ownKind, let own = ForeignMap.own.reading(record: place),
        !form.isDocuments, try trial(of: [input], as: kind, preset: own).accepted > 0
      {
        (self.kind, record, preset) = (kind, place, own)
        notes.append(
          "\(shown): records in the program's own format in '\(place.printable)', read without a map, as \(kind.name)")
        return false
      }
      // A column that the preset skips may be the deciding one.
      guard
        let fit = try FittingPreset(input, presetForm, vocabulary, record: place, list: list),
        best.decidingColumn.map({ fit.trial.unread[$0.path, default: 0] < $0.count }) ?? true,
        !best.missing.isEmpty || !fit.trial.lacksParams || !records.inside(path).areFlat
          || !best.haveAttributes(fit.trial.unread)
      else { continue }
      (preset, record, kind, toDo) = (fit.map, place, fit.kind, best.notationDoubt(fit.trial.unread)?.printable)
      document = fit.document(presetForm)
      map = document == nil ? fit.name : MapProposal.file
      let what =
        (form.name.isEmpty ? "" : "\(form.name); ")
        + ((place ?? list).map { "records in '\($0.printable)'; " } ?? "")
      let source = "as \(kind.name) (see docs/maps.md)"
      let words =
        fit.trial.refused == 0
        ? "read by the preset '\(fit.name)' \(source)"
        : "the preset '\(fit.name)' reads \(fit.trial.accepted) of \(fit.trial.outcomes) records \(source)"
      notes.append("\(shown): \(what)\(words)")
      return false
    }
    // Records that only a preset finds, such as those of a store, are unknown to the proposal.
    guard !records.nodes.isEmpty else {
      let raw = try ForeignMap(words: form.words + [#""rules": []"#])
      let refused = try trial(of: [input], as: .events, preset: raw).otherWords.first
      let none =
        form.isTable ? "the file has a header, but no records" : "the file has neither JSON objects nor a table"
      let words = none + (refused.map { " that can be read: \($0)".printable } ?? "")
      throw CommandError(.inputRefused, "\(shown): error: \(words)")
    }
    if best.missing.isEmpty, let other = best.ofOtherTime {
      func refused(_ proposal: MapProposal) throws -> Int {
        let document = proposal.document(form, record: envelope, eventType: platform.firstJob.ownEvent)
        return try trial(of: [input], as: proposal.kind, document: document, limit: Self.lookedAt).refused
      }
      let counts = try (refused(best), refused(other))
      if counts.0 != counts.1 { best = (counts.0 < counts.1 ? best : other).withSettledTime() }
    }
    let what = form.name.isEmpty ? "" : "\(form.name); "
    let outcome =
      (best.missing.isEmpty ? "a map is proposed" : "an incomplete map is proposed")
      + (best.kind == .events ? ":" : ", as \(best.kind.name):")
    notes.append("\(shown): \(what)no preset reads it; based on \(records.nodes.count.counted("record")), \(outcome)")
    if !envelope.isEmpty { notes.append("  record: \(envelope.joined(separator: ".").printable)") }
    for field in best.fields {
      let remark = field.remark.isEmpty ? "" : " (\(field.remark.printable))"
      notes.append("  \(field.name): \(field.path.printable), confidence \(field.confidence.rawValue)\(remark)")
    }
    if best.kind == .events { notes.append("  params: all other members") }
    notes += best.notes.map { "  \($0.printable)" }
    kind = best.kind
    map = MapProposal.file
    document = best.document(form, record: envelope, eventType: platform.firstJob.ownEvent)
    if !best.missing.isEmpty {
      toDo = "nothing looks like \(best.missing.joined(separator: ", ")); fill in the empty values in \(Self.mapPlace)"
      if form == .links {
        toDo =
          "a link needs a device and a time: TIME<TAB>DEVICE<TAB>URL, or a map such as samples/maps/links.json; fill in the empty values in \(Self.mapPlace)"
      }
    } else if !best.unsure.isEmpty {
      let guesses = best.unsure.map { "\($0.name) (\($0.path))" }.joined(separator: ", ")
      toDo =
        "guessed: \(guesses.printable); check \(Self.mapPlace), or repeat in a new folder with --device, --time or --name"
    } else if hints.campaign != nil, best.path(of: "campaign") == nil {
      toDo =
        hints.name == nil
        ? "--campaign was not used, because only some of the records are notifications; add rules for them to \(Self.mapPlace) (docs/maps.md)"
        : "--campaign was not used, because --name makes events, and only notifications have a campaign; leave out one of them"
    } else if !best.doubts.isEmpty {
      toDo = "\(best.doubts.joined(separator: "; ").printable); check \(Self.mapPlace)"
    }
    return true
  }

  /// Whether the map is complete, with nothing left to fill in.
  private var isWhole: Bool { toDo == nil || document.map { !$0.contains("\": \"\"") } ?? true }

  /// Reports how a run would read the first records.
  private mutating func describe(_ files: [InputFile]) throws {
    guard isWhole else { return }
    var trial = try trial(of: files, as: kind, document: document, preset: preset, limit: Self.lookedAt)
    for cure in [#""quotes": "none""#, #""escape": "\\\"""#, #""escape": "\\""#]
    where trial.others.keys.contains(where: { $0.contains(cure) }) {
      guard let old = document, !old.contains(cure.prefix(8)) else { continue }
      let cured = old.replacing("sv\"", with: "sv\", \(cure)", maxReplacements: 1)
      let better = try self.trial(of: files, as: kind, document: cured, limit: Self.lookedAt)
      // Quotes in other rows may have a meaning.
      guard better.refused < trial.refused, cure.contains("escape") || trial.lines.isSubset(of: better.lines) else {
        continue
      }
      notes += trial.otherWords.filter { $0.contains(cure) }.map { "  the map has \(cure); without it: \($0)" }
      (trial, document) = (better, cured)
    }
    notes += trial.otherWords.map { "  \($0)" }
    notes += trial.guardWords.map { "  \($0)" }
    for sample in trial.samples { notes.append("  record \(sample.number) \(sample.becomes.printable)") }
    notes.append("  \(trial.words)")
    let time = trial.oddTimes.map { odd in
      let why = odd.time < PastRecords.end ? PastRecords.detail(odd.time, asOf: .now) : "more than a day in the future"
      let first = "record \(odd.number) is dated \(odd.time.rfc3339.prefix(10)) by its timestamp\(odd.text)".printable
      return "the time of \(odd.count) of \(trial.accepted.counted("record")) is probably wrong: \(first) (\(why))"
    }
    for (field, found) in trial.nobody.sorted(by: { $0.key < $1.key }) {
      notes.append(
        "  \(field) identifies nobody in \(found.count.counted("record")); one value is '\(found.text)'"
          .printable)
    }
    guard toDo == nil else { return }
    if trial.accepted == 0 {
      toDo = "every record would be rejected or left out; see above, and docs/maps.md"
    } else if trial.refused * 20 > trial.outcomes {
      toDo = "\(trial.refused) of \(trial.outcomes.counted("record")) would be rejected; see above, and docs/maps.md"
    } else if let time, (trial.oddTimes?.count ?? 0) * 20 > trial.accepted {
      toDo = "\(time); correct the export, or set the time format in a map"
    } else if let device = trial.nobody["deviceId"]?.text {
      toDo =
        "the deviceId '\(device)' identifies no device, so all records with it would be treated as those of one device; remove this id from the records"
    } else if let shared = trial.sharedPerson {
      toDo = shared.printable
    } else if let time {
      notes.append("  \(time)")
    }
  }

  private func trial(
    of files: [InputFile], as kind: InputKind, document: String? = nil, preset: ForeignMap? = nil,
    limit: Int = MapProposal.recordLimit
  ) throws -> ExportTrial {
    let map = try preset ?? document.map { try ForeignMap(document: $0) }
    let files = files.map { file in
      var file = file
      file.kind = kind
      if let map { file.map = InputMap(map, identity: map.name) }
      return file
    }
    let likely = PastRecords.end..<FutureRecords.begin(asOf: .now)
    return try ExportTrial(of: files, platform.platform.vocabulary, limit: limit, likely: likely)
  }

  /// Checks whether other files that match the same patterns have a different format.
  private mutating func compare(_ files: [InputFile], _ form: ExportForm, _ records: ExportRecords) throws {
    let members = records.members
    for file in files {
      let other = try ExportForm(of: file)
      let otherMembers = try ExportRecords(of: file, other, platform.platform.vocabulary).members
      let trial =
        try isWhole && file != files[0] ? trial(of: [file], as: kind, document: document, preset: preset) : nil
      let refused = trial.map { $0.refused > $0.accepted } ?? false ? ", most of whose records would be rejected" : ""
      let isRead = trial.map { $0.refused == 0 && $0.emptyKeys.isEmpty } ?? false
      guard other != form || other.isTable && otherMembers != members && !isRead || !refused.isEmpty else { continue }
      func words(_ file: InputFile, _ form: ExportForm, _ members: [String]) -> String {
        "\(file.original.split(separator: "/").last ?? "") (\(form.isTable ? members.count.counted("column") : form.name.isEmpty ? "lines of JSON" : form.name))"
          .printable
      }
      toDo =
        "the files differ in format or content: \(words(files[0], form, members)), \(words(file, other, otherMembers))\(refused); \(map == MapProposal.file ? Self.mapPlace : "the entry in job.json") reads the first; list the others in a separate entry of 'inputs'"
      return
    }
  }

  private static let lookedAt = 10_000
  private static let mostFiles = 20
  /// A placeholder that no column name contains.
  static let mapPlace = "\u{1}"

  /// Returns the platform that knows the types of the most records; in a tie, the first one.
  private static func platform(for types: [String: Int]) -> any PlatformCommands {
    func records(_ commands: any PlatformCommands) -> Int {
      let meant = Set(commands.firstJob.types)
      return types.reduce(0) { $0 + (meant.contains($1.key) ? $1.value : 0) }
    }
    return InstalledPlatforms.all.max { records($0) < records($1) } ?? PlatformName.first.commands
  }
}
