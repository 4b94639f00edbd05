import BatchFoundation
package import BatchPipeline
import BatchReport
import BatchStore
import GameRules

/// Events of earlier runs that a run of a game sent.
package enum GameBacklog {
  /// The summary counts all events that `--events-out` has (reference deltadna 10), so also these.
  package static func count(in stage: inout ServiceStage) throws {
    var backlog = NameTable<Int>(atMost: RunSummary.typeLimit)
    for sequence in try stage.store.ledger.sequences([.backlog(postedIn: stage.run)]) {
      while let block = try sequence.next() {
        let cursor = try GameEventCursor(block)
        while try cursor.next() { backlog.add(1, to: ByteText(cursor.type.description)) }
      }
    }
    stage.report.summary.addEvents(backlog)
  }
}
