package import BatchFoundation

/// What triggers have counted on one device; kept with its state from run to run.
package struct TriggerCounts: Equatable, Sendable {
  private struct Count: Equatable, Sendable {
    var key: UInt64
    var count: Int64
  }

  /// How often the condition of each variant held, whatever the session; by variant.
  private var executions: [Count] = []
  /// The session that `shown` is of.
  private var session: [UInt8] = []
  /// How often each trigger responded in the session; by trigger.
  private var shown: [Count] = []

  package init() {}

  package var isEmpty: Bool { executions.isEmpty && shown.isEmpty }

  /// Counts an execution of the variant.
  ///
  /// - Returns: how many there are with it.
  mutating func addExecution(ofVariant variant: Int64) -> Int64 {
    Self.add(to: &executions, UInt64(bitPattern: variant))
  }

  mutating func addShown(_ trigger: UInt64) -> Int64 { Self.add(to: &shown, trigger) }

  func timesShown(_ trigger: UInt64) -> Int64 {
    let index = Self.place(of: trigger, in: shown)
    return index < shown.count && shown[index].key == trigger ? shown[index].count : 0
  }

  /// Forgets what was shown, unless it was in this session (reference decisions 40).
  package mutating func enter(_ session: Text) {
    guard unsafe self.session.count != session.count || !self.session.elementsEqual(session.bytes) else { return }
    self.session = unsafe Array(session.bytes)
    shown = []
  }

  private static func place(of key: UInt64, in counts: [Count]) -> Int {
    var low = 0
    var high = counts.count
    while low < high {
      let middle = (low + high) / 2
      if counts[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func add(to counts: inout [Count], _ key: UInt64) -> Int64 {
    let index = place(of: key, in: counts)
    if index == counts.count || counts[index].key != key { counts.insert(Count(key: key, count: 0), at: index) }
    counts[index].count += 1
    return counts[index].count
  }
}

extension TriggerCounts {
  /// First byte of counts as bytes. A new field gets a new number; older numbers stay readable.
  private static let format: UInt8 = 1

  /// Appends the counts as bytes; equal counts are equal bytes.
  package func encode(into bytes: inout [UInt8]) {
    func put(_ value: UInt64) {
      var rest = value
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    bytes.append(Self.format)
    put(UInt64(session.count))
    bytes += session
    for counts in [executions, shown] {
      put(UInt64(counts.count))
      for count in counts {
        put(count.key)
        put(UInt64(bitPattern: count.count))
      }
    }
  }

  /// Nil if the bytes, all of them, are not counts that this version knows.
  package init?(decoding bytes: UnsafeRawBufferPointer) {
    var at = 1
    func take() -> UInt64? {
      var value: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 70, by: 7) {
        guard at < bytes.count else { return nil }
        let byte = unsafe bytes[at]
        at += 1
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
      }
      return nil
    }
    func takeCounts() -> [Count]? {
      guard let number = take(), number <= UInt64(bytes.count) else { return nil }
      var counts: [Count] = []
      for _ in 0..<number {
        guard let key = take(), let count = take() else { return nil }
        if let last = counts.last, last.key >= key { return nil }
        counts.append(Count(key: key, count: Int64(bitPattern: count)))
      }
      return counts
    }
    guard unsafe bytes.first == Self.format, let length = take(), length <= UInt64(bytes.count - at) else { return nil }
    session = unsafe Array(bytes[at..<at + Int(length)])
    at += Int(length)
    guard let executions = takeCounts(), let shown = takeCounts(), at == bytes.count else { return nil }
    self.executions = executions
    self.shown = shown
  }
}
