package import BatchFoundation

/// The faults in a configuration and its job, from all files.
package struct ConfigurationErrors: RunError, Hashable, Sendable, CustomStringConvertible {
  /// The errors and warnings in the order in which they were found; at least one is an error.
  package var faults: [ConfigurationFault]
  /// The job as far as it could be read; nil without a job.
  package private(set) var job: Job?

  package init(_ faults: [ConfigurationFault], of job: Job? = nil) {
    (self.faults, self.job) = (faults, job)
    let most = DocumentFaults.most
    if faults.count > most, let last = faults.last {
      let more = (faults.count - most).counted("more finding is", "more findings are")
      // The only error may be one of the findings left out.
      self.faults = faults.prefix(most) + [ConfigurationFault(Place(last.place.source), "\(more) not shown")]
    }
  }

  package var exit: RunExit { .configuration }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// The configuration of a run, with the origin of every value.
package struct Configuration: Sendable {
  package var settings: Settings
  /// All settings, in the order of the table.
  package var resolved: [ResolvedSetting]
  package var warnings: [ConfigurationFault]
  /// The absolute paths of the files that environment variables name.
  var environmentFiles: [(setting: String, path: String)] = []

  /// Returns the setting `Section.key` in any spelling; nil if there is none.
  package func resolved(named name: String) -> ResolvedSetting? {
    guard let setting = SettingsSchema.current.setting(named: name) else { return nil }
    return resolved.first { $0.setting.name == setting.name }
  }

  /// The absolute paths of the files that settings name, each with its setting.
  package var files: [(setting: String, path: String)] {
    resolved.flatMap { resolved in resolved.files.map { (resolved.setting.name, $0) } } + environmentFiles
  }

  /// Returns the settings meant by `Section.key`, a key alone, or a section alone.
  package func resolved(matching name: String) -> [ResolvedSetting] {
    let wanted = Set(SettingsSchema.current.settings(matching: name).map(\.name))
    return resolved.filter { wanted.contains($0.setting.name) }
  }
}

package struct LoadedJob: Sendable {
  package var job: Job
  package var configuration: Configuration
  /// The command line's changes to both; files in its settings have absolute paths.
  package var changes: CommandLineChanges
  /// The faults in a job that cannot be run; nil if it can. If there are faults, `job` has only the parts that could be
  /// read, and `configuration` was loaded without a job.
  package var refusal: ConfigurationErrors?

  package init(job: Job, configuration: Configuration, changes: CommandLineChanges = CommandLineChanges()) {
    self.job = job
    self.configuration = configuration
    self.changes = changes
  }
}

/// Reads jobs and configurations, layer by layer.
package struct ConfigurationLoader: Sendable {
  package var environment: [String: String]
  /// The absolute base of paths on the command line and in the environment; messages show paths relative to it.
  package var currentDirectory: String
  /// The names of the platforms that jobs may use; the first is the default.
  package var destinations: [String]
  /// The clock of jobs that do not set it (reference formats 1.1).
  package var now: Instant
  /// Whether credentials are read from the environment; they are needed only for calls to the service.
  package var readsCredentials = true

  package init(
    environment: [String: String], currentDirectory: String, destinations: [String], now: Instant
  ) {
    self.environment = environment
    self.destinations = destinations
    self.now = now
    self.currentDirectory = PathText.normalized(currentDirectory)
  }

  /// Reads a job with everything it names.
  ///
  /// - Throws: all faults in all files.
  package func load(job path: String, _ changes: CommandLineChanges = CommandLineChanges()) throws(ConfigurationErrors)
    -> LoadedJob
  {
    let file = PathText.resolve(path, in: currentDirectory)
    let source = PathText.shown(file, from: currentDirectory)
    let profiles = JobProfiles(try JSONNode.load(file, source: source), chosen: changes.profile, source: source)
    let expansion = VariableExpansion(environment: environment, source: source)
    let document = expansion.expand(profiles.document)
    let profile = profiles.settings.map {
      expansion.expand($0, under: [JobProfiles.key, changes.profile ?? "", "settings"])
    }
    let reader = JobReader(
      document, file: file, source: source, destinations: destinations, zones: ZoneDatabase(environment: environment))
    var layers = SettingLayers()
    layers.faults += reader.faults
    var job = reader.job
    (job.profile, job.profiles) = (changes.profile, profiles.profiles)
    apply(changes, to: &job)
    guard profiles.faults.isEmpty else { throw ConfigurationErrors(profiles.faults + expansion.faults) }
    guard expansion.faults.isEmpty else {
      // Faults in the job's times may result from missing variables, so they are not reported.
      _ = reader.times.settle(&job, changes, now: now, source: source)
      throw ConfigurationErrors(expansion.faults, of: job)
    }
    for file in job.configuration { lay(file, &layers) }
    if let settings = reader.settings { layers.lay(settings, .job, source: source, directory: reader.job.directory) }
    if let profile { layers.lay(profile, .profile, source: source, directory: reader.job.directory) }
    layers.faults += reader.times.settle(&job, changes, now: now, source: source)
    do {
      return LoadedJob(
        job: job, configuration: try finish(&layers, changes, job), changes: absolute(changes))
    } catch {
      throw ConfigurationErrors(error.faults, of: job)
    }
  }

  /// Reads configuration files without a job. If there are none, only defaults, environment and command line apply.
  ///
  /// - Throws: all faults in all files.
  package func load(
    files: [String], _ changes: CommandLineChanges = CommandLineChanges()
  ) throws(ConfigurationErrors) -> Configuration {
    var layers = SettingLayers()
    for path in files {
      let file = PathText.resolve(path, in: currentDirectory)
      let source = PathText.shown(file, from: currentDirectory)
      layers.lay(try document(file, source), .file, source: source, directory: PathText.folder(of: file))
    }
    return try finish(&layers, changes, nil)
  }

  /// Reads a configuration file and expands its variables; any fault ends the loading.
  private func document(_ file: String, _ source: String) throws(ConfigurationErrors) -> JSONNode {
    let expansion = VariableExpansion(environment: environment, source: source)
    let document = expansion.expand(try JSONNode.load(file, source: source))
    guard expansion.faults.isEmpty else { throw ConfigurationErrors(expansion.faults) }
    return document
  }

  /// Merges a job's configuration file into the layers. Faults in the file are reported together with all others.
  private func lay(_ file: String, _ layers: inout SettingLayers) {
    let source = PathText.shown(file, from: currentDirectory)
    do {
      let document = try document(file, source)
      layers.lay(document, .file, source: source, directory: PathText.folder(of: file))
    } catch {
      for var fault in error.faults {
        if fault.place.line == nil, fault.hint == nil { fault.hint = "the job's 'configuration' names this file" }
        layers.faults.append(fault)
      }
    }
  }

  private func apply(_ changes: CommandLineChanges, to job: inout Job) {
    if let asOf = changes.asOf { job.asOf = asOf }
    if let file = changes.configuration { job.configuration = [PathText.resolve(file, in: currentDirectory)] }
    if let store = changes.store { job.store = JobReader.resolve(store, in: currentDirectory) }
    if let report = changes.report { job.reports = JobReader.resolve(report, in: currentDirectory) }
  }

  /// Returns the changes, with all paths of files and folders made absolute.
  private func absolute(_ changes: CommandLineChanges) -> CommandLineChanges {
    var changes = changes
    for (index, override) in changes.settings.enumerated() where !override.text.utf8.isEmpty {
      switch SettingsSchema.current.setting(override.section, override.key)?.kind {
      case .text(.file), .text(.folder):
        changes.settings[index].text = PathText.resolve(override.text, in: currentDirectory)
      default: break
      }
    }
    return changes
  }

  private func finish(
    _ layers: inout SettingLayers, _ changes: CommandLineChanges, _ job: Job?
  ) throws(ConfigurationErrors) -> Configuration {
    layers.lay(environment: environment, currentDirectory: currentDirectory, readsCredentials: readsCredentials)
    layers.lay(overrides: changes.settings, currentDirectory: currentDirectory)
    let errors = layers.faults.contains { $0.severity == .error }
    if !errors { layers.checkTogether(identity: job?.identity ?? false) }
    if !errors { layers.checkPrivacy(isOfGame: job.map { $0.destination != destinations.first } ?? false) }
    if !errors { layers.checkFiles(in: currentDirectory) }
    guard !layers.faults.contains(where: { $0.severity == .error }) else { throw ConfigurationErrors(layers.faults) }
    let settings = layers.settings
    let secrets = layers.resolved.filter { $0.setting.isSecret && !$0.given.isEmpty }.map { Secret($0.given.text) }
    let resolved = layers.resolved.map { resolved in
      var resolved = resolved
      resolved.secrets = secrets
      return resolved
    }
    return Configuration(
      settings: settings, resolved: resolved, warnings: layers.faults,
      environmentFiles: EnvironmentVariables.files(environment, in: currentDirectory))
  }
}

extension SettingLayers {
  /// The winning values as typed settings.
  var settings: Settings {
    var settings = Settings()
    for resolved in resolved { resolved.setting.store(resolved.given.value, &settings) }
    nameAttributes(of: &settings)
    return settings
  }

  /// Overrides the existing values with those from the command line.
  mutating func lay(overrides: [SettingOverride], currentDirectory: String) {
    for override in overrides {
      let name = "\(override.section).\(override.key)"
      let found = DocumentFaults("\(override.option) \(name)")
      defer { faults += found.all }
      guard SettingSection(rawValue: override.section) != nil else {
        let hint = SettingsSchema.current.suggestion(forSection: override.section)
        found.add(nil, "unknown section '\(override.section)'", hint: hint)
        continue
      }
      guard let setting = SettingsSchema.current.setting(override.section, override.key) else {
        let hint = SettingsSchema.current.suggestion(forKey: override.key, in: override.section)
        found.add(nil, "unknown key '\(name)'", hint: hint)
        continue
      }
      let field = Field(name, .text(override.text), found)
      if let node = setting.kind.node(of: override.text, field) {
        lay(Field(name, node, found), as: setting, .commandLine, directory: currentDirectory)
      }
      if setting.isSecret {
        found.add(
          nil, .warning, "other users of the machine can see a secret on the command line",
          hint:
            "put the secret in a file and set NAME_FILE to its path, where NAME is the setting's environment variable")
      }
    }
  }

  /// Reports unreadable files that settings name, before the run begins; messages show paths relative to `directory`.
  mutating func checkFiles(in directory: String) {
    for resolved in resolved {
      checkReaders(ofSecret: resolved, directory)
      for file in resolved.files where !FileContents.isReadable(file) {
        let shown = PathText.shown(file, from: directory)
        report(resolved.given.place, "'\(resolved.setting.name)' names the file '\(shown)', which cannot be read")
      }
    }
  }

  /// Warns about a file that contains a secret but is readable by users other than the owner.
  private mutating func checkReaders(ofSecret resolved: ResolvedSetting, _ directory: String) {
    guard resolved.setting.isSecret, !resolved.given.isEmpty, [.file, .job].contains(resolved.given.layer),
      FileContents.isOpenToOthers(PathText.resolve(resolved.given.place.source, in: directory))
    else { return }
    warn(
      resolved.given.place, "'\(resolved.setting.name)' is in a file that other users can read",
      hint:
        "protect the file with chmod 600, or put the secret in a separate file and set NAME_FILE to its path, where NAME is the setting's environment variable"
    )
  }

  /// Checks conditions that involve several settings; `identity` is the job's setting for identity checks.
  mutating func checkTogether(identity: Bool) {
    if let written = winner("AuditRecord.mergeHistoryInAuditRecordTable"), written.value == true,
      winner("AuditRecord.auditRecordListId")?.isEmpty == true
    {
      faults.append(
        ConfigurationFault(
          written.place, identity ? .error : .warning,
          "'AuditRecord.mergeHistoryInAuditRecordTable' is true, but 'AuditRecord.auditRecordListId' names no table"
            + "; to create one, set 'mergeHistoryInAuditRecordTable' to false and run "
            + "'service prepare JOB --audit-table'"))
    }
    checkNames()
    for resolved in resolved where resolved.setting.isWithoutEffect && resolved.given.value != resolved.chain[0].value {
      warn(resolved.given.place, "'\(resolved.setting.name)' is set, but has no effect in a batch run")
    }
    if let plugins = winner("Augmentation.augmentationPluginClasses") {
      for name in plugins.value.array?.compactMap(\.string) ?? [] where AugmentationPluginClass(name: name) == nil {
        warn(
          plugins.place,
          "'Augmentation.augmentationPluginClasses' names '\(name)', which is not a known plug-in; it is skipped")
      }
    }
  }
}

/// The environment variables that provide settings, from the table of settings.
package enum EnvironmentVariables {
  /// The name of each variable, with the name of its setting.
  package static let all: [(name: String, setting: String)] = SettingsSchema.current.settings.compactMap { setting in
    setting.variable.map { ($0, setting.name) }
  }

  /// Returns the files that variables name, each with its setting.
  static func files(_ environment: [String: String], in directory: String) -> [(setting: String, path: String)] {
    all.compactMap { name, setting in
      environment[name + "_FILE"].flatMap { $0.isEmpty ? nil : (setting, PathText.resolve($0, in: directory)) }
    }
  }
}

extension SettingLayers {
  /// Overrides the existing values with those from the environment. An empty variable counts as not set.
  ///
  /// - Parameter readsCredentials: whether variables and files with the service's credentials are read.
  mutating func lay(environment: [String: String], currentDirectory: String, readsCredentials: Bool) {
    for setting in SettingsSchema.current.settings where readsCredentials || !setting.isCredential {
      guard let name = setting.variable else { continue }
      let text = environment[name].flatMap { $0.utf8.isEmpty ? nil : $0 }
      let file = environment[name + "_FILE"].flatMap { $0.utf8.isEmpty ? nil : $0 }
      let found = DocumentFaults(file == nil || text != nil ? name : name + "_FILE")
      defer { faults += found.all }
      if text != nil, file != nil {
        found.add(nil, "both \(name) and \(name)_FILE are set", hint: "unset one of them")
      } else if let text = text ?? file.flatMap({ contents(of: $0, for: setting, in: currentDirectory, found) }) {
        lay(Field(setting.name, .text(text), found), as: setting, .environment, directory: currentDirectory)
      }
    }
  }

  /// Returns the content of a file without trailing line endings; nil after reporting an unreadable or empty file.
  private func contents(
    of file: String, for setting: Setting, in directory: String, _ found: DocumentFaults
  ) -> String? {
    let path = PathText.resolve(file, in: directory)
    var bytes: [UInt8]
    do {
      bytes = try RegularFile.read(path, largest: 1 << 16, takesPipes: true)
    } catch {
      let reason = if case .system(let fault) = error { "\(fault)" } else { error.reason }
      found.add(nil, "the file '\(file)' cannot be read: \(reason)")
      return nil
    }
    while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.isEmpty else {
      found.add(nil, "the file '\(file)' is \(bytes.isEmpty ? "empty" : "not UTF-8 text")")
      return nil
    }
    if setting.isSecret, FileContents.isOpenToOthers(path) {
      found.add(
        nil, .warning, "other users can read the file '\(file)', which contains '\(setting.name)'",
        hint: "protect the file with chmod 600")
    }
    return text
  }
}
