package import BatchFoundation

/// A line out of the window that lies in the past of a store: an earlier run read it, or none has.
package struct PastLine: Sendable, Equatable {
  package var timestamp: Instant
  /// Of its device.
  package var bucket: Int
  package var digest: LineDigest
  package var position: RecordPosition
}

/// Lines of the past that one thread read: as many of each file as tell whether it brings new ones.
struct PastLines {
  private static let mostOfFile = 32
  private static let most = 2048
  private(set) var lines: [PastLine] = []
  /// By file, how many are kept.
  private var counts: [UInt32: Int] = [:]

  mutating func add(_ line: SourceLine, _ head: RecordHead) {
    let count = counts[line.position.file, default: 0]
    guard count < Self.mostOfFile, lines.count < Self.most else { return }
    counts[line.position.file] = count + 1
    lines.append(
      PastLine(
        timestamp: head.timestamp, bucket: DeviceHash(head.device).bucket,
        digest: head.identity ?? LineDigest(line: line.text, kind: line.kind), position: line.position))
  }
}
