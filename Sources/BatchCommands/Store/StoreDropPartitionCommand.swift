import ArgumentParser
import BatchFoundation
import BatchStore

struct StoreDropPartitionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop-partition",
    abstract: "Take back what was collected of a partition of which parts are missing.",
    discussion: """
      Its events, quarantine, identity checks and questions go, and the store no longer knows its lines: partition and decide them \
      again. Nothing of them was sent, because 'post' waits for all parts. A partition that is complete stays.
      """)

  @OptionGroup var options: StoreOptions<JobName>

  func run() throws {
    try options.writing { store, _ in
      let dropped = try store.parts.dropHalf()
      options.answer.format.tell([
        "partition": .text(dropped?.partition.identity),
        "parts": .number(dropped?.partition.here.count ?? 0), "lines": .number(dropped?.lines ?? 0),
        "quarantined": .number(dropped?.quarantined ?? 0), "events": .number(dropped?.events ?? 0),
      ]) {
        guard let dropped else { return Streams.note("No partition here has missing parts; nothing was changed") }
        let partition = dropped.partition
        Streams.note(
          "\(partition.here.count.counted("part")) of \(partition.parts) of the partition \(partition.identity.prefix(12)) "
            + "\(partition.here.count == 1 ? "was" : "were") taken back: \(dropped.lines.counted("line")), "
            + "\(dropped.quarantined.grouped) quarantined, \(dropped.events.counted("event"))")
      }
    }
  }
}
