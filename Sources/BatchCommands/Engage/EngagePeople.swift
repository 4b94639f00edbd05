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
    let kept = traces.shared.sorted().map {
      "the mobile user id \(personal.id($0).text ?? "") is recorded by other devices too: its recipients stay until it is named with "
        + "--mobile-user-id"
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
