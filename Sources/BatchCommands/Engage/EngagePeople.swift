import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import Engage

extension EngageCommands {
  func erase(
    _ ids: [PersonID], from request: RunRequest, _ store: EventStore, isRehearsal: Bool, _ personal: PersonalData
  ) throws -> [String] {
    let settings = request.settings
    guard !settings.general.listId.isEmpty else {
      throw ServiceErasureRefusal(
        description:
          "error: General.databaseListId names no list that people could be deleted from; nothing was changed")
    }
    let traces = try store.identities.serviceTraces(of: ids)
    let stays = "its recipients stay until it is named with --mobile-user-id"
    func id(_ user: String) -> String { "the mobile user id \(personal.id(user).text ?? "")" }
    let kept =
      traces.shared.sorted().map { "\(id($0)) is recorded by other devices too: \(stays)" }
      + traces.doubtful.sorted().map {
        "a device was merged into the recipient of \(id($0)), which may be another person's: \(stays)"
      }
    return try ServiceSession.run(settings, usesSandbox: request.usesSandbox, store: store.path) { service in
      let erasure = ServiceErasure.ofOperator(settings, service: service)
      if isRehearsal {
        let recipients = try erasure.find(ids, traces)
        return recipients.map { "the recipient \(personal.id($0).text ?? "") would be deleted from the list" }
          + ["audit rows that would be deleted: \(traces.auditRows.count)"] + kept
      }
      let gone = try erasure.erase(ids, traces)
      return ["recipients deleted from the list: \(gone.recipients)", "audit rows deleted: \(gone.auditRows)"] + kept
    }
  }
}
