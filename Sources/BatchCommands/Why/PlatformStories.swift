import BatchFoundation
import BatchReport
import BatchStore

/// The relations between a platform's events, in addition to facts that hold for all platforms.
protocol PlatformStories {
  /// Returns the name of an event type that is a code; nil if the type is its name.
  func name(ofType type: String) -> String?

  /// Adds the reasons for the content of the event at the index.
  func tell(of index: Int, in timeline: DeviceTimeline, decided: DecidedBy, _ answer: inout Facts) throws

  /// Adds the device's state after the event at the index, its last one up to `instant`; nil for the store's end.
  func tell(ofDeviceAfter index: Int, at instant: Instant?, in timeline: DeviceTimeline, _ answer: inout Facts)

  /// Returns the device's stored state in sentences.
  func state(of device: StoredDevice) throws -> [String]

  /// Adds the device's history at the service apart from events; personal data.
  func tellHistory(of device: String, _ answer: inout Facts) throws
}

extension PlatformStories {
  func name(ofType type: String) -> String? { nil }
}
