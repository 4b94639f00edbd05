import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import Glibc

/// The changes that a run makes to the service's data, apart from sending events: `--online-plan` writes them, and
/// `--plan` limits a run to them.
extension Pipeline {
  func planner(_ service: (any PlatformService)?) throws -> any ChangePlanning {
    if let planner = service as? any ChangePlanning { return planner }
    throw CommandError(
      .configuration, "error: a run only sends events to '\(platform.name)', so there is nothing to plan")
  }

  /// Returns the service limited to the plan in a file, or the unchanged service if `path` is nil.
  ///
  /// - Throws: errors in the plan, before anything is written.
  func following(
    _ path: String?, _ service: any PlatformService, _ files: InputFiles
  ) throws -> any PlatformService {
    guard let path else { return service }
    // A plan has a few hundred bytes for each device.
    let plan = try InputBytes.read(path, largest: 1 << 30)
    return try planner(service).following(plan, file: path, inputs: inputDigest(files))
  }

  /// Writes the changes that a run would make to the service's data (`--online-plan`); it only reads from the service.
  func writeChangePlan(
    _ preparation: RunPreparation, _ storage: RunStorage, _ outcome: inout RunOutcome
  ) throws {
    guard let path = request.planOut else { return }
    let planner = try planner(preparation.service)
    let store = storage.sink.store
    var stage = ServiceStage(
      store: store, run: try beginRun(in: store), interruption: interruption, note: { monitor.note($0) },
      report: outcome.report)
    try outcome.report.timed(.identity) {
      let plan = try planner.plan(inputs: inputDigest(preparation.files), &stage)
      try OutputFile.write(plan.document, to: path, request.storage)
      monitor.note(plan.summary)
    }
  }

  /// Returns the digest of the job's name, the configuration and every byte of the inputs.
  private func inputDigest(_ files: InputFiles) throws -> String {
    var hash = SHA256()
    hash.update("\(request.job.name)\n\(request.configurationDigest)\n")
    for input in files.files {
      hash.update(input.path.bytes + [0, input.kind.rawValue])
      if let remote = input.remote {
        hash.update("\(remote.size) \(remote.tag ?? "")")
        continue
      }
      let file = unsafe open(input.path.description, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { throw CommandError.unreadable(input.path.description) }
      defer { close(file) }
      do {
        try unsafe FileDescriptor.forEachPiece(of: file, atMost: 1 << 18) { unsafe hash.update($0) }
      } catch {
        throw CommandError.unreadable(input.path.description)
      }
    }
    return Hexadecimal.text(of: hash.finalize())
  }
}
