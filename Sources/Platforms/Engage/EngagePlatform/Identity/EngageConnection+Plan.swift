import BatchFoundation
import BatchPlatform
import BatchStore
import EngageIdentity
import FoundationEssentials

/// A file that is not a plan of `--online-plan`.
struct PlanFileError: RunError, Equatable, CustomStringConvertible {
  var path: String

  var exit: RunExit { .inputRefused }

  var description: String { "\(path): error: no plan of this release; make one with --dry-run --online-plan" }
}

/// Which fields of which recipients a run would change.
extension EngageConnection: ChangePlanning {
  func rehearsal(of store: EventStore?) throws -> EventStore {
    try store?.rehearsalCopy() ?? EventStore.temporary(format: EngagePlatform().storeFormat)
  }

  func plan(inputs: String, _ stage: inout ServiceStage) throws -> ChangePlan {
    stage.note("Identity: planning with \(origin)")
    let (store, run, interruption) = (stage.store, stage.run, stage.interruption)
    let proposal = try reconciling(store, run, interruption) { try $0.propose(inputs: inputs) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let recipients = Set(proposal.changes.map { ByteText($0.target) }).count
    return ChangePlan(
      document: String(decoding: try encoder.encode(proposal), as: UTF8.self) + "\n",
      summary: "Identity: \(proposal.changes.count) fields of \(recipients) records would change")
  }

  /// - Throws: ``PlanFileError``, ``ProposalMismatch``.
  func following(_ document: [UInt8], file: String, inputs: String) throws -> any PlatformService {
    let proposal: IdentityProposal
    do {
      proposal = try JSONDecoder().decode(IdentityProposal.self, from: Data(document))
    } catch {
      throw PlanFileError(path: file)
    }
    guard proposal.inputs == inputs else { throw ProposalMismatch(difference: .inputs) }
    var connection = self
    connection.proposal = proposal
    return connection
  }
}
