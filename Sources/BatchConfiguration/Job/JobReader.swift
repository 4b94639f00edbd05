import BatchFoundation

/// Reads a job document: types, required fields, unknown keys, paths.
struct JobReader {
  private(set) var job: Job
  /// The `settings` of the job, for the layers.
  private(set) var settings: JSONNode?
  private(set) var faults: [ConfigurationFault] = []
  /// The values that depend on the time of the run.
  private(set) var times = JobTimes()
  private let source: String
  private let destinations: [String]
  private let zones: ZoneDatabase
  /// Whether faults of the inputs have been reported.
  private var inputsAreWrong = false

  static let keys = [
    "name", "configuration", "settings", "inputs", "deepLinkRoutes", "window", "asOf", "destination", "identity",
    "store", "reports", "outbox", "tests", "missed", JobProfiles.key,
  ]

  /// - Parameters:
  ///   - file: the absolute path of the job file; `source` is its name in messages.
  ///   - destinations: the allowed values of `destination`; the first is the default.
  init(_ document: JSONNode, file: String, source: String, destinations: [String], zones: ZoneDatabase) {
    job = Job(file: file, destination: destinations.first ?? "")
    self.destinations = destinations
    self.source = source
    self.zones = zones
    guard case .object(let members) = document.value else {
      fault(document.line, "the job is \(document.documentKind), but must be a dictionary")
      return
    }
    let own = members.filter { $0.key != SettingLayers.schemaKey }
    for (key, member) in known(own, Self.keys, under: "") { read(member, key) }
    if !members.contains(where: { $0.key == "name" && $0.value.value != .null }) {
      fault(document.line, "the job has no 'name'")
    }
    if job.identity, job.outbox != nil, let member = members.first(where: { $0.key == "outbox" }) {
      fault(
        member.value.line, "'outbox' replaces the service, which 'identity' needs",
        hint: "leave one of them out")
    }
    if job.inputs.isEmpty, !inputsAreWrong {
      fault(
        document.line, "the job has no 'inputs'",
        hint: "name at least one file under 'events', 'notifications', 'deepLinks' or 'stores'")
    }
  }

  private mutating func read(_ member: JSONMember, _ key: String) {
    switch key {
    case "name":
      guard let name = text(member, key) else { return }
      // The store and the report are named after it, next to the job and nowhere else.
      if name.hasPrefix("/") || name.split(separator: "/").contains("..") {
        fault(member.value.line, "'name' leads out of the folder for the files named after it")
      }
      job.name = name
    case "configuration":
      job.configuration = paths(member, key)
    case "settings":
      settings = member.value
    case "inputs":
      let before = faults.count
      readInputs(member)
      inputsAreWrong = faults.count > before
    case "deepLinkRoutes":
      job.deepLinkRoutes = path(member, key)
    case "window":
      readWindow(member)
    case "asOf":
      job.asOf = instant(member, key)
    case "destination":
      guard let word = text(member, key) else { return }
      guard destinations.contains(word) else {
        fault(
          member.value.line,
          "'destination' is '\(word)', but must be one of \(destinations.map { "'\($0)'" }.joined(separator: ", "))",
          hint: NearestName.question(about: word, among: destinations))
        return
      }
      job.destination = word
    case "missed":
      job.tellsMissed = flag(member, key) ?? true
    case "identity":
      job.identity = flag(member, key) ?? false
    case "store":
      job.store = path(member, key)
    case "outbox":
      job.outbox = path(member, key)
    case "tests":
      job.tests = paths(member, key)
    default:
      job.reports = path(member, key)
    }
  }

  private mutating func readInputs(_ inputs: JSONMember) {
    guard case .object(let members) = inputs.value.value else {
      wrongType(inputs, "inputs", "a dictionary")
      return
    }
    for (key, member) in known(members, ["events", "notifications", "deepLinks", "stores"], under: "inputs.") {
      switch key {
      case "events": readInputs(member, "inputs.\(key)", \.events)
      case "notifications": readInputs(member, "inputs.\(key)", \.notifications)
      case "stores": readInputs(member, "inputs.\(key)", \.events, map: "sdk-store")
      default: readInputs(member, "inputs.\(key)", \.deepLinks)
      }
    }
  }

  /// - Parameter map: the map of entries without one.
  private mutating func readInputs(
    _ entries: JSONMember, _ key: String, _ kind: WritableKeyPath<Job.Inputs, [JobInput]>, map: String? = nil
  ) {
    guard case .array(let elements) = entries.value.value else {
      wrongType(entries, key, "an array of paths")
      return
    }
    for (index, element) in elements.enumerated() {
      let name = "\(key)[\(index)]"
      guard var input = readInput(JSONMember(key: name, at: element.place, value: element), name) else { continue }
      input.input.map = input.input.map ?? map
      if let dated = input.dated {
        times.inputs.append(
          JobTimes.Input(
            kind: kind, place: job.inputs[keyPath: kind].count, key: name, line: element.line, path: dated))
      }
      job.inputs[keyPath: kind].append(input.input)
    }
  }

  /// Reads an entry of `inputs`: a path, or an object with one.
  private mutating func readInput(
    _ entry: JSONMember, _ name: String
  ) -> (input: JobInput, dated: DatedPath?)? {
    guard case .object(let members) = entry.value.value else { return readPath(entry, name) }
    var read: (input: JobInput, dated: DatedPath?)?
    var input = JobInput(path: "")
    var hasPath = false
    for (key, member) in known(
      members, ["path", "required", "minRecords", "label", "map", "record"], under: "\(name).")
    {
      switch key {
      case "path":
        hasPath = true
        read = readPath(member, "\(name).path")
      case "required": input.isRequired = flag(member, "\(name).required") ?? false
      case "minRecords": input.minRecords = count(member, "\(name).minRecords")
      case "label": input.label = text(member, "\(name).label")
      case "record": input.record = text(member, "\(name).record")
      default: input.map = map(member, "\(name).map")
      }
    }
    guard let read else {
      if !hasPath { fault(entry.value.line, "'\(name)' has no 'path'") }
      return nil
    }
    (input.path, input.days) = (read.input.path, read.input.days)
    return (input, read.dated)
  }

  /// Returns the name of a preset or the absolute path of a map.
  private mutating func map(_ member: JSONMember, _ key: String) -> String? {
    text(member, key).map { MapName.isFile($0) ? PathText.resolve($0, in: job.directory) : $0 }
  }

  private mutating func readPath(
    _ member: JSONMember, _ name: String
  ) -> (input: JobInput, dated: DatedPath?)? {
    guard let written = text(member, name) else { return nil }
    // The address may contain credentials, so it is not shown.
    if let address = InputAddress(written) {
      fault(
        member.value.line, "'\(name)' is an address (\(address.scheme)://), but must be a file", hint: address.remedy)
      return nil
    }
    if written.utf8.elementsEqual("-".utf8) { return (JobInput(path: "/dev/stdin"), nil) }
    do {
      return (JobInput(path: PathText.resolve(written, in: job.directory)), try DatedPath.read(written))
    } catch {
      fault(
        member.value.line, "'\(name)' holds '\(error.text)', which is not a date pattern",
        hint: "known patterns are \(DatedPath.patterns.joined(separator: ", ")); write ? for a brace in a name")
      return nil
    }
  }

  private mutating func readWindow(_ window: JSONMember) {
    guard case .object(let members) = window.value.value else {
      wrongType(window, "window", "a dictionary")
      return
    }
    var relative = RelativeWindow(zone: .utc)
    times.windowLine = window.line
    for (key, member) in known(members, ["from", "to", "zone", "catchUp"], under: "window.") {
      switch key {
      case "from": relative.from = bound(member, "window.from")
      case "to": relative.to = bound(member, "window.to")
      case "catchUp": job.catchUp = span(member, "window.catchUp")
      default: if let zone = zone(member, "window.zone") { relative.zone = zone }
      }
    }
    times.zone = relative.zone
    if relative.from?.isRelative ?? false || relative.to?.isRelative ?? false {
      job.relativeWindow = relative
      return
    }
    // Neither end depends on the time of the run.
    job.window.from = relative.from?.instant(at: .now, in: relative.zone)
    job.window.to = relative.to?.instant(at: .now, in: relative.zone)
    if let from = job.window.from, let to = job.window.to, to <= from {
      fault(window.line, "'window.to' is not later than 'window.from'")
    }
  }

  private mutating func span(_ member: JSONMember, _ key: String) -> CalendarSpan? {
    guard let written = text(member, key) else { return nil }
    guard let span = CalendarSpan("-\(written)") else {
      fault(
        member.value.line, "'\(key)' is '\(written)', which is not an ISO 8601 duration", hint: "write it as in 'P3D'")
      return nil
    }
    return span
  }

  private mutating func bound(_ member: JSONMember, _ key: String) -> RelativeWindow.Bound? {
    guard let written = dateText(member, key) else { return nil }
    guard let bound = RelativeWindow.Bound(written) else {
      fault(
        member.value.line, "'\(key)' is '\(written)', \(noTime(written, " and not a relative one"))",
        hint: "write it as in '2026-01-31T00:00:00Z', '2026-01-31', 'today', 'yesterday', '-P7D' or 'today-P7D'")
      return nil
    }
    return bound
  }

  private mutating func zone(_ member: JSONMember, _ key: String) -> Zone? {
    guard let name = text(member, key) else { return nil }
    do {
      return try zones.zone(name)
    } catch {
      let problem =
        switch error {
        case .unknown: "which is not a time zone in \(zones.folder)"
        case .damaged: "whose file in \(zones.folder) is damaged"
        case .missing: "but this machine has no time zones in \(zones.folder)"
        }
      let hint =
        error == .unknown
        ? "write a name such as 'Europe/London', or 'UTC'" : "install the time zone database (Debian: tzdata)"
      fault(member.value.line, "'\(key)' is '\(name)', \(problem)", hint: hint)
      return nil
    }
  }

  /// Returns the members with a known key and a value, once each; the others are reported as faults.
  private mutating func known(
    _ members: [JSONMember], _ keys: [String], under prefix: String
  ) -> [(String, JSONMember)] {
    var result: [(String, JSONMember)] = []
    var lines: [String: Int?] = [:]
    for member in members {
      guard keys.contains(member.key) else {
        let isSection = prefix.isEmpty && SettingSection(rawValue: member.key) != nil
        let hint =
          isSection
          ? "configuration sections belong under 'settings'"
          : faults.count < ConfigurationErrors.most
            ? NearestName.of(member.key, among: keys).map { NearestName.question(prefix + $0) } : nil
        fault(
          member.line, "unknown key '\(prefix)\(member.key)'",
          hint: hint ?? "known keys are \(keys.joined(separator: ", "))")
        continue
      }
      if let first = lines.updateValue(member.line, forKey: member.key) {
        fault(member.line, "key '\(prefix)\(member.key)' is set twice" + (first.map { " (first in line \($0))" } ?? ""))
        continue
      }
      if member.value.isNull { continue }
      result.append((member.key, member))
    }
    return result
  }

  private mutating func text(_ member: JSONMember, _ key: String) -> String? {
    guard case .string(let text) = member.value.value else {
      wrongType(member, key, "a string")
      return nil
    }
    guard text.utf8.contains(where: { $0 > 0x20 }) else {
      fault(member.value.line, "'\(key)' is empty")
      return nil
    }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      fault(member.value.line, "'\(key)' holds a control character")
      return nil
    }
    return text
  }

  private mutating func flag(_ member: JSONMember, _ key: String) -> Bool? {
    if let flag = member.value.variableFlag { return flag }
    guard case .bool(let flag) = member.value.value else {
      wrongType(member, key, "a boolean")
      return nil
    }
    return flag
  }

  /// Reads a non-negative integer.
  private mutating func count(_ member: JSONMember, _ key: String) -> Int? {
    guard case .number(let text) = member.value.value, let count = Int(text) else {
      wrongType(member, key, "an integer")
      return nil
    }
    guard count >= 0 else {
      fault(member.value.line, "'\(key)' is \(count), but must be 0 or more")
      return nil
    }
    return count
  }

  private mutating func path(_ member: JSONMember, _ key: String) -> String? {
    text(member, key).map { PathText.resolve($0, in: job.directory) }
  }

  private mutating func paths(_ member: JSONMember, _ key: String) -> [String] {
    guard case .array(let elements) = member.value.value else {
      wrongType(member, key, "an array of strings")
      return []
    }
    return elements.enumerated().compactMap { index, element in
      let name = "\(key)[\(index)]"
      return path(JSONMember(key: name, at: element.place, value: element), name)
    }
  }

  /// Returns the text of a string or of a property list's date.
  private mutating func dateText(_ member: JSONMember, _ key: String) -> String? {
    switch member.value.value {
    case .string(let text), .date(let text): return text
    default:
      wrongType(member, key, "a string with a date and time")
      return nil
    }
  }

  private mutating func instant(_ member: JSONMember, _ key: String) -> Instant? {
    guard let written = dateText(member, key) else { return nil }
    guard let instant = Instant.parse(rfc3339: written) else {
      fault(
        member.value.line, "'\(key)' is '\(written)', \(noTime(written))",
        hint: "write it as in '2026-01-31T00:00:00Z'")
      return nil
    }
    return instant
  }

  private func noTime(_ written: String, _ more: String = "") -> String {
    CivilTime.isImpossibleDay(written)
      ? "a day that does not exist" : "which is not a date and time of RFC 3339\(more)"
  }

  private mutating func wrongType(_ member: JSONMember, _ key: String, _ expected: String) {
    fault(member.value.line ?? member.line, "'\(key)' is \(member.value.documentKind), but must be \(expected)")
  }

  private mutating func fault(_ line: Int?, _ problem: String, hint: String? = nil) {
    faults.append(ConfigurationFault(Place(source, line: line), problem, hint: hint))
  }
}
