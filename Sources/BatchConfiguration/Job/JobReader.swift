import BatchFoundation
import BatchWire

/// Reads a job document: types, required fields, unknown keys, paths.
struct JobReader {
  private(set) var job: Job
  /// The member `settings` of the job, which becomes a layer of settings.
  private(set) var settings: JSONNode?
  /// The values that depend on the time of the run.
  private(set) var times = JobTimes()
  private let found: DocumentFaults
  private let zones: ZoneDatabase

  var faults: [ConfigurationFault] { found.all }

  /// The keys that a job and its profiles may have.
  static let keys = [
    "name", "configuration", "settings", "inputs", "deepLinkRoutes", "window", "asOf", "destination", "identity",
    "store", "reports", "outbox", "tests", "missed",
  ]

  /// - Parameters:
  ///   - file: the absolute path of the job file; `source` is its name in messages.
  ///   - destinations: the allowed values of `destination`; the first is the default.
  init(_ document: JSONNode, file: String, source: String, destinations: [String], zones: ZoneDatabase) {
    job = Job(file: file, destination: destinations.first ?? "")
    found = DocumentFaults(source)
    self.zones = zones
    guard let fields = Fields(document, "the job", found) else { return }
    if let name = fields.required("name"), let text = word(name) {
      // The store and the report get this name, which must not lead out of the job's folder.
      if text.hasPrefix("/") || text.split(separator: "/").contains("..") {
        name.refuse(
          "must not begin with '/' or contain '..', because files in the job's folder are named after the job")
      }
      job.name = text
    }
    job.configuration = paths(fields["configuration"])
    settings = fields["settings"]?.node
    readInputs(fields["inputs"], document.place)
    job.deepLinkRoutes = path(fields["deepLinkRoutes"])
    if let window = fields["window"] { readWindow(window) }
    job.asOf = fields["asOf"].flatMap(instant)
    if let destination = fields["destination"]?.choice(destinations) { job.destination = destination }
    job.identity = fields["identity"]?.flag() ?? false
    job.store = path(fields["store"])
    job.reports = fields["reports"].flatMap(word).map { Self.resolve($0, in: job.directory) }
    job.outbox = path(fields["outbox"])
    job.tests = paths(fields["tests"])
    job.tellsMissed = fields["missed"]?.flag() ?? true
    _ = fields[JobProfiles.key]
    if job.identity, job.outbox != nil {
      found.add(
        fields["outbox"]?.place, "'outbox' replaces the service, which 'identity' needs",
        hint: "remove one of them")
    }
    fields.end { key in
      SettingSection(rawValue: key) == nil ? nil : "configuration sections belong under 'settings'"
    }
  }

  private mutating func readInputs(_ inputs: Field?, _ document: TextPlace?) {
    let before = found.all.count
    if let fields = inputs?.object() {
      readInputs(fields["events"], \.events)
      readInputs(fields["notifications"], \.notifications)
      readInputs(fields["deepLinks"], \.deepLinks)
      readInputs(fields["stores"], \.events, map: "sdk-store")
      fields.end()
    }
    if job.inputs.isEmpty, found.all.count == before {
      found.add(
        document, "the job names no inputs",
        hint: "name at least one file under 'events', 'notifications', 'deepLinks' or 'stores'")
    }
  }

  /// - Parameter map: the map for entries that do not name one.
  private mutating func readInputs(
    _ entries: Field?, _ kind: WritableKeyPath<Job.Inputs, [JobInput]>, map: String? = nil
  ) {
    for entry in entries?.elements("an array of paths") ?? [] {
      guard let (read, dated) = readInput(entry) else { continue }
      var input = read
      input.map = input.map ?? map
      if let dated {
        times.inputs.append(
          JobTimes.Input(
            kind: kind, place: job.inputs[keyPath: kind].count, key: entry.name, line: entry.place?.line, path: dated))
      }
      job.inputs[keyPath: kind].append(input)
    }
  }

  /// Reads an entry of `inputs`: a path, or an object with one.
  private func readInput(_ entry: Field) -> (input: JobInput, dated: DatedPath?)? {
    guard entry.node.members != nil, let fields = entry.object() else { return readPath(entry) }
    defer { fields.end() }
    let read = fields.required("path").flatMap(readPath)
    let (isRequired, least) = (fields["required"]?.flag(), fields["minRecords"]?.integer(0...Int.max))
    let (label, map, record) = (word(fields["label"]), word(fields["map"]), word(fields["record"]))
    guard var input = read?.input else { return nil }
    (input.isRequired, input.minRecords, input.label) = (isRequired ?? false, least, label)
    (input.map, input.record) = (map.map { MapName.isFile($0) ? PathText.resolve($0, in: job.directory) : $0 }, record)
    return (input, read?.dated)
  }

  private func readPath(_ field: Field) -> (input: JobInput, dated: DatedPath?)? {
    guard let written = word(field) else { return nil }
    // The address may contain credentials, so it is not shown.
    if let address = RemoteAddress(written) {
      if let problem = address.problem ?? Self.problem(with: address) {
        field.refuse(problem)
        return nil
      }
    } else if let scheme = Self.scheme(of: written) {
      field.refuse("has the unsupported scheme '\(scheme)://'", hint: Self.remedy(for: scheme.lowercased()))
      return nil
    }
    if written.utf8.elementsEqual("-".utf8) { return (JobInput(path: "/dev/stdin"), nil) }
    do {
      return (JobInput(path: Self.resolve(written, in: job.directory)), try DatedPath.read(written))
    } catch {
      field.refuse(
        "contains '\(error.text)', which is not a date pattern",
        hint: "known patterns are \(DatedPath.patterns.joined(separator: ", ")); for a brace in a name, write ?")
      return nil
    }
  }

  /// Returns the scheme of a network address as written, such as `gs`; nil for a path.
  private static func scheme(of text: String) -> Substring? {
    guard let mark = text.utf8.firstRange(of: "://".utf8)?.lowerBound, text.utf8.first?.isASCIILetter ?? false,
      text.utf8[..<mark].allSatisfy({ $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) })
    else { return nil }
    return text[..<mark]
  }

  /// Returns advice on passing the content of an address with an unsupported scheme to a run.
  private static func remedy(for scheme: String) -> String {
    if ["s3", "http", "https"].contains(scheme) { return "write the scheme in lower case" }
    let program = scheme == "gs" ? "gcloud storage cat" : "PROGRAM"
    return
      "copy the file to a local path, or use '-' and pipe the file in: \(program) ADDRESS | engage-batch run JOB"
  }

  /// Returns an address unchanged, and a path made absolute.
  static func resolve(_ path: String, in directory: String) -> String {
    RemoteAddress(path) == nil ? PathText.resolve(path, in: directory) : path
  }

  private static func problem(with address: RemoteAddress) -> String? {
    guard !address.isBucket else { return nil }
    do throws(ServiceAddress.Fault) {
      _ = try ServiceAddress("\(address.scheme)://\(address.host)")
      return nil
    } catch {
      return "is not a usable address: \(error)"
    }
  }

  private mutating func readWindow(_ window: Field) {
    guard let fields = window.object() else { return }
    defer { fields.end() }
    var relative = RelativeWindow(zone: .utc)
    times.windowLine = window.place?.line
    relative.from = fields["from"].flatMap(bound)
    relative.to = fields["to"].flatMap(bound)
    if let zone = fields["zone"].flatMap(zone) { relative.zone = zone }
    job.catchUp = fields["catchUp"].flatMap(span)
    (times.zone, job.zone) = (relative.zone, relative.zone)
    if relative.from?.isRelative ?? false || relative.to?.isRelative ?? false {
      job.relativeWindow = relative
      return
    }
    // Neither end of this window depends on the time of the run.
    job.window.from = relative.from?.instant(at: .now, in: relative.zone)
    job.window.to = relative.to?.instant(at: .now, in: relative.zone)
    if let from = job.window.from, let to = job.window.to, to <= from {
      fields.refuse("to", "is not later than 'window.from'")
    }
  }

  private func span(_ field: Field) -> CalendarSpan? {
    guard let written = word(field) else { return nil }
    let span = CalendarSpan("-\(written)")
    if span == nil {
      field.refuse("is '\(written)', which is not an ISO 8601 duration", hint: "write a duration such as 'P3D'")
    }
    return span
  }

  private func bound(_ field: Field) -> RelativeWindow.Bound? {
    guard let written = dateText(field) else { return nil }
    let bound = RelativeWindow.Bound(written)
    if bound == nil {
      field.refuse(
        "is '\(written)', \(noTime(written, " or a relative one"))",
        hint: "write a time such as '2026-01-31T00:00:00Z', '2026-01-31', 'today', 'yesterday', '-P7D' or 'today-P7D'")
    }
    return bound
  }

  private func zone(_ field: Field) -> Zone? {
    guard let name = word(field) else { return nil }
    do {
      return try zones.zone(name)
    } catch {
      let (problem, hint) =
        switch error {
        case .unknown:
          ("which is not a time zone in \(zones.folder)", "write a name such as 'Europe/London', or 'UTC'")
        case .damaged:
          ("whose file in \(zones.folder) is damaged", "reinstall the time zone database (Debian: tzdata)")
        case .missing:
          ("but this machine has no time zones in \(zones.folder)", "install the time zone database (Debian: tzdata)")
        }
      field.refuse("is '\(name)', \(problem)", hint: hint)
      return nil
    }
  }

  /// Returns the field's string; nil after reporting a fault, such as a control character.
  private func word(_ field: Field?) -> String? {
    guard let field, let text = field.text() else { return nil }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      field.refuse("contains a control character")
      return nil
    }
    return text
  }

  private func path(_ field: Field?) -> String? {
    guard let field, let written = word(field) else { return nil }
    guard RemoteAddress(written) == nil else {
      field.refuse(
        "is an address, but must be a local path",
        hint: field.name == "store" ? "'store backup' copies a store to a bucket" : nil)
      return nil
    }
    return PathText.resolve(written, in: job.directory)
  }

  private func paths(_ field: Field?) -> [String] { field?.elements("an array of strings")?.compactMap(path) ?? [] }

  /// Returns a string, or a property list's date as a string; nil after reporting any other value.
  private func dateText(_ field: Field) -> String? {
    field.value("a string with a date and time") { node in
      if case .date(let text) = node.value { text } else { node.string }
    }
  }

  private func instant(_ field: Field) -> Instant? {
    guard let written = dateText(field) else { return nil }
    let instant = Instant.parse(rfc3339: written)
    if instant == nil {
      field.refuse("is '\(written)', \(noTime(written))", hint: "write a time such as '2026-01-31T00:00:00Z'")
    }
    return instant
  }

  private func noTime(_ written: String, _ more: String = "") -> String {
    CivilTime.isImpossibleDay(written)
      ? "which is not a valid date" : "which is not an RFC 3339 time\(more)"
  }
}
