import BatchFoundation

/// The displayed events by type: the most frequent types in the order of their codes, and the rest as one.
struct ShownTypes {
  let types: [(code: String, events: Int)]
  let others: Int

  init(_ summary: RunSummary, atMost limit: Int) {
    let most = summary.eventsByType.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }
    types = most.prefix(limit).map { ($0.key.string, $0.value) }.sorted { EventCodeOrder.precedes($0.code, $1.code) }
    others = summary.eventCount - types.reduce(0) { $0 + $1.events }
  }
}
