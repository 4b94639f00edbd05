import BatchReport
import BatchStore

extension Pipeline {
  /// So many plans are shown; the summary has their number.
  private static let shownMerges = 200

  /// The plans that this run made or went on with, those that wait for somebody first.
  ///
  /// - Parameter earlier: plans that earlier runs left unfinished.
  func merges(
    _ store: EventStore, _ run: RunID, _ earlier: [Int64], _ policy: PersonalData.Policy
  ) throws -> [IdentityMerge] {
    let personal = PersonalData(policy, key: try store.reportKey())
    return try store.plans(of: run, or: earlier, limit: Self.shownMerges).map { IdentityMerge($0, personal) }
  }
}

extension IdentityMerge {
  init(_ plan: MergePlan, _ personal: PersonalData) {
    self.init(
      plan: plan.id, scenario: plan.scenario.rawValue, state: plan.state.rawValue, device: personal.id(plan.device),
      loser: personal.id(plan.loser), winner: personal.id(plan.winner), reason: plan.reason)
  }
}
