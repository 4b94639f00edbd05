import BatchFoundation
import BatchReport
import BatchStore

extension IdentityMerge {
  /// The maximum number of plans in a report; the summary has the total.
  private static let shown = 200

  /// Returns the plans that a run made, and `earlier` ones that it continued, those pending for a person first.
  static func merges(
    in store: EventStore, of run: RunID, earlier: [Int64], _ policy: PersonalDataPolicy
  ) throws -> [IdentityMerge] {
    let personal = PersonalData(policy, key: try store.runs.reportKey())
    return try store.merges.plans(of: run, or: earlier, limit: shown).map { plan in
      let source =
        plan.state == .refused ? try store.identities.recordSource(of: plan) : nil
      return IdentityMerge(plan, source.map { "\($0)" } ?? "", personal)
    }
  }

  private init(_ plan: MergePlan, _ source: String, _ personal: PersonalData) {
    self.init(
      plan: plan.id, scenario: plan.scenario.rawValue, words: plan.scenario.words, state: plan.state.rawValue,
      device: personal.id(plan.device), loser: personal.id(plan.loser), winner: personal.id(plan.winner),
      reason: plan.reason, source: source)
  }
}
