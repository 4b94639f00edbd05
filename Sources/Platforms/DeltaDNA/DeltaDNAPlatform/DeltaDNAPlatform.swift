import BatchFoundation
package import BatchIngest
package import BatchPlatform
package import BatchReport
package import BatchStore
package import DeltaDNADecisions
import DeltaDNAEvents

/// Games that report to deltaDNA: Collect and Engage decisions.
package struct DeltaDNAPlatform: Sendable {
  package init() {}

  package static let name = "deltadna"

  package var vocabulary: any RecordVocabulary { GameVocabulary() }

  package var storeFormat: StoreFormat {
    StoreFormat(destination: Self.name, codec: GameEventCodec(), migrations: DecisionTables.migrations)
  }

  package func rules(for run: RunContext) throws -> any DecisionRules { try GameDecisionRules(run) }

  /// Puts what the deciders counted and what Engage answered into the summary.
  package func add(_ figures: [String: Int], _ decisions: DecisionReport, to summary: inout RunSummary) {
    summary.platform = PlatformFigures(deltaDNA: figures, decisions)
  }
}
