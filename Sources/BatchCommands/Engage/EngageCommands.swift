import BatchConfiguration
import BatchFoundation
import BatchPlatform
import BatchProgram
import BatchReport
import BatchStore
import EngagePlatform
import EngageRules
import EngageSandbox
import FoundationEssentials

/// Engage in the verbs that all platforms share.
struct EngageCommands: PlatformCommands {
  var platform: any Platform { EngagePlatform() }

  func standaloneSandbox() -> any SandboxPart {
    EngageSandboxPart(options: EngageSandboxOptions(), completes: true)
  }

  func sandbox(for settings: Settings) throws -> any SandboxPart {
    EngageSandboxPart(options: try .embedded(for: settings))
  }

  func examine(_ loaded: LoadedJob, usesSandbox: Bool, _ findings: inout DoctorFindings) throws {
    let settings = loaded.configuration.settings
    findings.all += try ServiceSession.run(settings, usesSandbox: usesSandbox) { service in
      var examination = ServiceExamination(
        service, settings, identity: loaded.job.identity, comparesClocks: !usesSandbox)
      examination.run()
      return examination.findings
    }
  }

  func prepare(_ loaded: LoadedJob, usesSandbox: Bool, _ options: PreparationOptions) throws -> PreparationReport {
    let settings = loaded.configuration.settings
    return try ServiceSession.run(settings, usesSandbox: usesSandbox) { service in
      var preparation = ServicePreparation(service, settings, identity: loaded.job.identity, options)
      return try preparation.run()
    }
  }

  /// Looks at the route file of the job.
  func lint(_ job: Job?, _ configuration: Configuration?) -> [ConfigFinding] {
    guard let path = job?.deepLinkRoutes else { return [] }
    return ConfigFinding.lint(path, "the route file") { bytes, name in
      do throws(RouteFileError) {
        return try RouteFile.read(bytes, name: name).notes.filter { $0.severity != .info }.map(ConfigFinding.init)
      } catch {
        return error.faults.map(ConfigFinding.init)
      }
    }
  }

  func refusals(of job: Job, _ configuration: Configuration) -> [ConfigurationFault] {
    guard job.identity, configuration.settings.general.listId.isEmpty else { return [] }
    return [
      ConfigurationFault(
        Place(of: job), "'identity' is true, but 'General.databaseListId' names no list",
        hint: "set it, or ENGAGE_LIST_ID")
    ]
  }

  func omissions(of job: Job, _ configuration: Configuration) -> [ConfigurationFault] {
    let place = Place(of: job)
    var faults: [ConfigurationFault] = []
    for table in configuration.settings.augmentation.lookupTables {
      do {
        _ = try table.rows(shownFrom: job.directory)
      } catch {
        faults.append(ConfigurationFault(place, .error, ConfigFinding.problem("\(error)")))
      }
    }
    do {
      _ = try LineProgram.Command.augmenting(job, configuration.settings.augmentation)
    } catch {
      faults += error.faults
    }
    let connection = configuration.settings.connection
    let needed = [
      (connection.baseURL?.isEmpty ?? true, "Connection.baseUrl", "ENGAGE_BASE_URL"),
      (connection.clientId?.isEmpty ?? true, "Connection.clientId", "ENGAGE_CLIENT_ID_FILE"),
      (connection.clientSecret?.isEmpty ?? true, "Connection.secret", "ENGAGE_SECRET_FILE"),
      (connection.refreshToken?.isEmpty ?? true, "Connection.refreshToken", "ENGAGE_REFRESH_TOKEN_FILE"),
    ]
    return faults + needed.filter(\.0).map { ConfigurationFault(unset: $0.1, variable: $0.2, in: job) }
  }
}

extension EngageCommands {
  func campaignMembers(in store: EventStore) throws -> [String] { [try EngageStories.campaignAttribute(in: store)] }

  var devices: any DeviceRows { EngageDeviceRows() }

  func stories(in store: EventStore, _ personal: PersonalData) throws -> any PlatformStories {
    try EngageStories(store, personal)
  }
}

extension ConfigFinding {
  fileprivate init(_ note: RouteNote) {
    self.init(
      file: note.file, line: note.place.line, severity: note.severity.rawValue, text: note.message,
      description: note.description)
  }
}
