extension Event {
  /// The order of `--events-out` and of delivery: timestamp, device id by bytes, emission number (reference formats 4.2).
  @inlinable
  package static func precedes(_ one: Event, _ other: Event) -> Bool {
    if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
    if one.device != other.device { return one.device < other.device }
    return one.emission < other.emission
  }
}
