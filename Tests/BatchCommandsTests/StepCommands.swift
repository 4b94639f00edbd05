import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import StepPlatform

@testable import BatchCommands

/// What a platform that shares nothing with those of the product adds to the verbs.
struct StepCommands: PlatformCommands {
  /// Where requests go.
  var folder: String

  var platform: any Platform { StepPlatform(folder: folder) }
  var firstJob: FirstJob.Content {
    FirstJob.Content(
      identity: false, configuration: "{}",
      records: [
        ("08:00:00", #""who":"w","at":1767225600000,"steps":12"#),
        ("08:01:00", #""who":"w","at":1767225660000,"steps":3"#),
      ], ownEvent: "walk")
  }

  func sandbox(for settings: Settings?) -> any SandboxPart { StepSandboxPart() }

  func examine(_ request: RunRequest, _ findings: inout DoctorFindings) {
    findings.ok("folder", "requests go to a folder")
  }

  func lint(_ job: Job?, _ configuration: Configuration?) -> [ConfigurationFault] { [] }
  func campaigns(in store: EventStore) -> (JSONNode) -> [String] { { _ in [] } }
  func stories(in store: EventStore, _ personal: PersonalData) -> any PlatformStories { StepStories() }

  func prepare(_ request: RunRequest, _ options: PreparationOptions) -> PreparationReport { PreparationReport() }

  func erase(
    _ ids: [PersonID], from request: RunRequest, _ store: EventStore, isRehearsal: Bool, _ personal: PersonalData
  ) -> [String] { [] }
}

private struct StepSandboxPart: SandboxPart {
  /// No job of the tests has a sandbox.
  struct None: Error {}

  var endpoints: [SandboxEndpoint] { [] }
  func read(_ fields: Fields) {}
  func make(in server: SandboxSettings) throws -> any SandboxPlatform { throw None() }
}

extension StepCommands {
  var sessionColumns: [String] { ["state"] }
  var campaignNote: String? { "steps have no campaigns" }

  func session(of device: StoredDevice, _ personal: PersonalData) -> SessionRow {
    SessionRow(status: .none, cells: [.text(String(decoding: device.state, as: UTF8.self))])
  }

  func campaign(of device: StoredDevice) -> DeviceCampaign? { nil }
}

private struct StepStories: PlatformStories {
  func describe(_ index: Int, in timeline: DeviceTimeline, _ settings: ProcessedBy, _ answer: inout Facts) {
    answer.add("total", titled: "total", timeline.entries[index].event["total"]?.compactText ?? "")
  }

  func describeDevice(after index: Int, at instant: Instant?, in timeline: DeviceTimeline, _ answer: inout Facts) {}
  func state(of device: StoredDevice) -> [String] { [String(decoding: device.state, as: UTF8.self)] }
  func describeHistory(of device: String, _ answer: inout Facts) {}
}
