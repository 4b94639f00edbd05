import BatchFoundation
import BatchStore

/// What a platform's events tell about each other, beside what is true of events of any platform.
protocol PlatformStories {
  /// What a type of events is called that is a code; nil for one that is its name.
  func name(ofType type: String) -> String?

  /// Why the event at the index is as it is.
  func tell(of index: Int, in timeline: DeviceTimeline, decided: DecidedBy, _ answer: inout WhyAnswer) throws

  /// Where a device stood after the event at the index, its last one up to `instant`; nil for the end of what the store knows.
  func tell(ofDeviceAfter index: Int, at instant: Instant?, in timeline: DeviceTimeline, _ answer: inout WhyAnswer)

  /// What the rules keep of a device, in sentences.
  func state(of device: StoredDevice) throws -> [String]

  /// What happened to the device at the service beside its events; personal data.
  func tellHistory(of device: String, _ answer: inout WhyAnswer) throws
}

extension PlatformStories {
  func name(ofType type: String) -> String? { nil }
}
