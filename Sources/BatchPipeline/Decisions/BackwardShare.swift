import BatchFoundation
import BatchIngest
import BatchStore

/// How many devices of an input have nothing newer than what earlier runs decided of them.
///
/// Records that come late are a matter of course, and some devices may have nothing else. An input goes backwards when that holds for
/// nearly all devices that the store knows of it, and when they are many, and more than a small part of the store's. Some
/// buckets stand for all devices of a large input.
struct BackwardShare: Sendable, Equatable {
  /// Devices whose new records are all late.
  private(set) var behind = 0
  /// Devices with a new record that is not late.
  private(set) var ahead = 0
  /// The last instant of the records of those behind.
  private(set) var newest = Instant(milliseconds: 0)
  /// The last instant that was decided of those behind.
  private(set) var decided = Instant(milliseconds: 0)
  /// Devices that the store has in the buckets that were looked at.
  private var stored = 0
  private var devices = 0
  private var records = 0

  /// Fewer devices than this are some late ones, whatever their share.
  private static let fewest = 100
  private static let enoughDevices = 2000
  private static let enoughRecords = 1 << 20

  /// - Parameter reach: what is no earlier is decided in its place, and never behind; nil where all is decided as it comes.
  /// - Throws: what reading the input or the store throws.
  init(_ preview: InputPreview, _ earlier: EarlierRuns, _ rules: any DecisionRules, reach: Instant?) throws {
    try preview.forEachBucket { bucket in
      devices += bucket.devices.count
      records += bucket.records
      stored += try earlier.deviceCount(bucket: bucket.number)
      for (device, state) in zip(bucket.devices, try earlier.states(of: bucket.devices.map(\.device))) {
        guard let state, let decided = try rules.decided(of: state, known: nil)?.newest else { continue }
        add(device.newest, reach.map { min($0, decided) } ?? decided)
      }
      return !isClear
    }
  }

  private mutating func add(_ newest: Instant, _ decided: Instant) {
    guard newest < decided else {
      ahead += 1
      return
    }
    behind += 1
    self.newest = max(self.newest, newest)
    self.decided = max(self.decided, decided)
  }

  /// Whether more devices would hardly show anything else. Those behind are far too few where lines are mostly known already.
  private var isClear: Bool {
    devices >= Self.enoughDevices || records >= Self.enoughRecords || ahead >= 32 && ahead > behind
      || stored >= Self.enoughDevices && 20 * behind < stored
  }

  var isBackward: Bool { behind >= Self.fewest && behind >= 9 * ahead && 10 * behind >= stored }
}
