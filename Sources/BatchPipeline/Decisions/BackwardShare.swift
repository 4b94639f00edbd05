import BatchFoundation
import BatchIngest
import BatchStore

/// The share of an input's devices whose records are all before those that earlier runs processed.
///
/// Late records are normal, and some devices may have nothing else. An input is backward when that holds for nearly all
/// devices that the store knows of it, and these are many and more than a small part of the store's. For a large input,
/// some buckets represent all devices.
struct BackwardShare: Sendable, Equatable {
  /// The number of devices whose new records are all late.
  private(set) var behind = 0
  /// The number of devices with a new record that is not late.
  private(set) var ahead = 0
  /// The last instant of the records of the devices behind.
  private(set) var newest = Instant(milliseconds: 0)
  /// The last instant that earlier runs processed of the devices behind.
  private(set) var decided = Instant(milliseconds: 0)
  /// The number of devices that the store has in the buckets examined.
  private var stored = 0
  private var devices = 0
  private var records = 0

  /// The minimum number of devices behind; fewer are just some late ones, whatever their share.
  private static let fewest = 100
  private static let enoughDevices = 2000
  private static let enoughRecords = 1 << 20

  /// - Parameter reach: the start of the rewind window, from which no record counts as behind; nil if there is none.
  /// - Throws: the errors of reading the input or the store.
  init(_ preview: InputPreview, _ earlier: Timelines, _ rules: any DecisionRules, reach: Instant?) throws {
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

  /// Whether more devices would hardly change the result. Those behind are far too few if most lines are already known.
  private var isClear: Bool {
    devices >= Self.enoughDevices || records >= Self.enoughRecords || ahead >= 32 && ahead > behind
      || stored >= Self.enoughDevices && 20 * behind < stored
  }

  var isBackward: Bool { behind >= Self.fewest && behind >= 9 * ahead && 10 * behind >= stored }
}
