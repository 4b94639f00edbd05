import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import Engage
import EngageRules
import EventSchemas
import FoundationEssentials

/// The Engage part of the commands that all platforms share.
struct EngageCommands: PlatformCommands {
  var platform: any Platform { EngagePlatform() }

  var firstJob: FirstJob.Content { .engage }

  func standaloneSandbox() -> any SandboxPart {
    EngageSandboxPart(options: EngageSandboxOptions(), completes: true)
  }

  func sandbox(for settings: Settings) throws -> any SandboxPart {
    EngageSandboxPart(options: try .embedded(for: settings))
  }

  func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws {
    findings.all += try ServiceSession.run(request.settings, usesSandbox: request.usesSandbox) { service in
      var examination = ServiceExamination(
        service, request.settings, identity: request.job.identity, comparesClocks: !request.usesSandbox)
      examination.run()
      return examination.findings
    }
  }

  func prepare(_ request: RunRequest, _ options: PreparationOptions) throws -> PreparationReport {
    try request.refuseMissingSettings()
    return try ServiceSession.run(request.settings, usesSandbox: request.usesSandbox) { service in
      var preparation = ServicePreparation(service, request.settings, options)
      return try preparation.run()
    }
  }

  /// Checks the event schema and the job's route file.
  func lint(_ job: Job?, _ configuration: Configuration?) -> [ConfigFinding] {
    let schema = configuration?.settings.general.eventSchema
    return (schema.map { ConfigFinding.lint(schema: $0, of: .app) } ?? []) + lint(routesOf: job)
  }

  private func lint(routesOf job: Job?) -> [ConfigFinding] {
    guard let path = job?.deepLinkRoutes else { return [] }
    return ConfigFinding.lint(path, "the route file") { bytes, name in
      do throws(FileError) {
        return try RouteFile.read(bytes, name: name).notes.filter { $0.severity != .info }.map(ConfigFinding.init)
      } catch {
        return error.faults.map(ConfigFinding.init)
      }
    }
  }

  func refusals(of job: Job, _ configuration: Configuration) -> [ConfigurationFault] {
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
    return faults
  }
}

extension EngageCommands {
  func campaigns(in store: EventStore) throws -> (JSONNode) -> [String] {
    let name = try EngageStories.settings(of: store).attributeNames[.campaign]
    return { attributes in
      let attribute = (attributes.array ?? []).first { $0["name"]?.string?.isIdentical(to: name) ?? false }
      return attribute?["value"]?.string.map { [$0] } ?? []
    }
  }

  var devices: any DeviceRows { EngageDeviceRows() }

  func stories(in store: EventStore, _ personal: PersonalData) throws -> any PlatformStories {
    try EngageStories(store, personal)
  }
}

extension ConfigFinding {
  fileprivate init(_ note: FileNote) {
    self.init(
      file: note.file, line: note.place.line, severity: note.severity.rawValue, text: note.message,
      description: note.description)
  }
}
