import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

/// The state of a device at an instant, and its pending work.
struct DeviceStory {
  private let store: EventStore
  private let platform: any Platform
  private let personal: PersonalData
  private let device: [UInt8]
  private let timeline: DeviceTimeline
  private let stories: any PlatformStories
  /// The instant; nil for the store's known time.
  private let at: Instant?

  init(_ device: [UInt8], at: Instant?, in store: EventStore, _ personal: PersonalData) throws {
    self.store = store
    self.personal = personal
    self.device = device
    self.at = at
    platform = try Platforms.installed.platform(named: store.format.destination)
    stories = try InstalledPlatforms.of(platform).stories(in: store, personal)
    timeline = try DeviceTimeline(of: device, in: store, platform, stories)
  }

  private var name: String { String(decoding: device, as: UTF8.self) }

  func answer() throws -> Facts {
    let moment = at.map { "at \($0.rfc3339)" } ?? "at the store's known time"
    let shown = personal.id(name).text
    var answer: Facts = ["device": .text(shown), "at": .text(at?.rfc3339)]
    answer.add(subject: "Device \(shown ?? "") \(moment)")
    let index = at.map { timeline.last(at: $0) } ?? timeline.entries.indices.last
    answer.add("events", titled: "events", events(index))
    answer.add("corrections", titled: "corrections", try corrections())
    if let index { stories.describeDevice(after: index, at: at, in: timeline, &answer) }
    if at == nil, let stored = try store.timelines.device(device) {
      answer.add("state", titled: "now", try stories.state(of: stored))
    }
    try stories.describeHistory(of: name, &answer)
    answer.add("statuses", titled: "statuses", statuses)
    return answer
  }

  private func events(_ index: Int?) -> [String] {
    guard let first = timeline.entries.first, let last = timeline.entries.last else {
      return ["the store has no events of this device"]
    }
    var lines = [
      "\(timeline.entries.count) in the store, from \(first.timestamp.rfc3339) to \(last.timestamp.rfc3339)"
    ]
    guard let index else { return lines + ["none of them had happened by then"] }
    let entry = timeline.entries[index]
    lines.append("last event up to then: \(entry.words) at \(entry.timestamp.rfc3339) (\(entry.reference))")
    return lines
  }

  /// Describes sent events that late records changed; the timeline has them as sent.
  private func corrections() throws -> [String] {
    var lines: [String] = []
    try store.ledger.forEachCorrection { correction in
      guard correction.device == device else { return }
      lines.append("event \(correction.event) at \(correction.event.timestamp.rfc3339): \(correction.verdict)")
    }
    guard !lines.isEmpty else { return [] }
    let more = lines.count - Self.shownCorrections
    let head = [
      lines.count.counted("event was", "events were") + " sent before late records changed "
        + "\(lines.count == 1 ? "it" : "them"), and sent events cannot be recalled; 'store corrections --show-personal-data' shows both versions",
      "session and campaign are shown here as they were sent",
    ]
    return head + lines.prefix(Self.shownCorrections) + (more > 0 ? ["and \(more.grouped) more"] : [])
  }

  private static let shownCorrections = 20

  private var statuses: [String] {
    let counts = Dictionary(grouping: timeline.entries, by: \.stored.status.name).mapValues(\.count)
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
  }
}

extension Correction {
  /// The effect of a late record on the sent event.
  var verdict: String {
    let record = source.map { ", after the late record at \($0)" } ?? ""
    return "\(kind == .changed ? "it would be different now" : "it would not be sent now")\(record)"
  }
}
