package import BatchFoundation

/// The trigger counts of one device, kept in its state from run to run.
package struct TriggerCounts: Equatable, Sendable {
  fileprivate struct Count: Equatable, Sendable {
    var key: UInt64
    var count: Int64
  }

  /// The number of times that each variant's condition held, over all sessions; sorted by variant.
  private var executions: [Count] = []
  /// The session to which `shown` refers.
  private var session: [UInt8] = []
  /// The number of times that each trigger responded in that session; sorted by trigger key.
  private var shown: [Count] = []

  package init() {}

  package var isEmpty: Bool { executions.isEmpty && shown.isEmpty }

  /// Counts an execution of the variant; returns the new count.
  mutating func addExecution(ofVariant variant: Int64) -> Int64 {
    Self.add(to: &executions, UInt64(bitPattern: variant))
  }

  mutating func addShown(_ trigger: UInt64) -> Int64 { Self.add(to: &shown, trigger) }

  func timesShown(_ trigger: UInt64) -> Int64 {
    let index = shown.place { $0.key < trigger }
    return index < shown.count && shown[index].key == trigger ? shown[index].count : 0
  }

  /// Clears the counted responses if they belong to a different session (reference decisions 40).
  package mutating func enter(_ session: Text) {
    guard unsafe self.session.count != session.count || !self.session.elementsEqual(session.bytes) else { return }
    self.session = unsafe Array(session.bytes)
    shown = []
  }

  private static func add(to counts: inout [Count], _ key: UInt64) -> Int64 {
    let index = counts.place { $0.key < key }
    if index == counts.count || counts[index].key != key { counts.insert(Count(key: key, count: 0), at: index) }
    counts[index].count += 1
    return counts[index].count
  }

  /// Writes the counts in the encoding that ``init(from:)`` reads. Equal counts give equal bytes.
  package func put(to writer: inout StateWriter) {
    session.withText { writer.put($0) }
    for counts in [executions, shown] {
      writer.put(Int64(counts.count))
      for count in counts {
        writer.put(word: count.key)
        writer.put(count.count)
      }
    }
  }

  /// - Throws: ``DeviceStateError`` if the remaining bytes are not exactly the counts.
  package init(from reader: inout StateReader) throws(DeviceStateError) {
    session = unsafe Array(try reader.text().bytes)
    executions = try reader.triggerCounts()
    shown = try reader.triggerCounts()
    guard reader.isAtEnd else { throw DeviceStateError() }
  }
}

extension StateReader {
  fileprivate mutating func triggerCounts() throws(DeviceStateError) -> [TriggerCounts.Count] {
    var counts: [TriggerCounts.Count] = []
    // A key takes eight bytes, a count at least one.
    for _ in 0..<(try count(ofBytes: 9)) {
      let count = TriggerCounts.Count(key: try word(), count: try integer())
      if let last = counts.last, last.key >= count.key { throw DeviceStateError() }
      counts.append(count)
    }
    return counts
  }
}
