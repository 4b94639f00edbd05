package import BatchIngest
package import BatchPlatform
import EngageEvents

/// Acoustic's Universal Behavior events with all that a run does at Engage.
package struct EngagePlatform: Sendable {
  package init() {}

  package var name: String { "engage" }

  package var vocabulary: any RecordVocabulary { EngageVocabulary() }

  package func rules(for run: RunContext) throws -> any DecisionRules { try EngageDecisionRules(run) }
}
