import BatchFoundation
import BatchPipeline
import BatchStore
import FoundationEssentials

/// The error that a file is not a plan of `--online-plan`.
struct ChangePlanFileError: RunError, Equatable, CustomStringConvertible {
  var path: String

  var exit: RunExit { .inputRefused }

  var description: String {
    "\(path): error: the file is not a change plan of this release; create one with --dry-run --online-plan"
  }
}

extension EngageConnection: ChangePlanning {
  func planningStore(of store: EventStore?) throws -> EventStore {
    try store?.planningCopy() ?? EventStore.temporary(format: EngagePlatform().storeFormat)
  }

  func plan(inputs: String, _ stage: inout ServiceStage) throws -> ChangePlan {
    stage.note("Identity: planning with \(origin)")
    let (store, run, interruption) = (stage.store, stage.run, stage.interruption)
    let changePlan = try reconciling(store, run, interruption, note: stage.note) { try $0.changePlan(inputs: inputs) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let recipients = Set(changePlan.changes.map { ByteText($0.target) }).count
    return ChangePlan(
      document: String(decoding: try encoder.encode(changePlan), as: UTF8.self) + "\n",
      summary: "Identity: \(changePlan.changes.count.counted("field")) of \(recipients.counted("record")) would change")
  }

  /// - Throws: ``ChangePlanFileError``, ``ChangePlanMismatch``.
  func following(_ document: [UInt8], file: String, inputs: String) throws -> any PlatformService {
    let changePlan: IdentityChangePlan
    do {
      changePlan = try JSONDecoder().decode(IdentityChangePlan.self, from: Data(document))
    } catch {
      throw ChangePlanFileError(path: file)
    }
    guard changePlan.inputs == inputs else { throw ChangePlanMismatch(difference: .inputs) }
    var connection = self
    connection.changePlan = changePlan
    return connection
  }
}
