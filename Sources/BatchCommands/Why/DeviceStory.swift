import BatchFoundation
import BatchPlatform
import BatchReport
import BatchStore

/// Where a device stood at an instant, and what waits for it.
struct DeviceStory {
  private let store: EventStore
  private let platform: any Platform
  private let personal: PersonalData
  private let device: [UInt8]
  private let timeline: DeviceTimeline
  private let stories: (any PlatformStories)?
  /// Nil for the end of what the store knows.
  private let at: Instant?

  init(_ device: [UInt8], at: Instant?, in store: EventStore, _ personal: PersonalData) throws {
    self.store = store
    self.personal = personal
    self.device = device
    self.at = at
    platform = try Platforms.installed.platform(named: store.format.destination)
    stories = try InstalledPlatforms.of(platform)?.stories(in: store, personal)
    timeline = try DeviceTimeline(of: device, in: store, platform, stories)
  }

  private var name: String { String(decoding: device, as: UTF8.self) }

  func answer() throws -> WhyAnswer {
    let moment = at.map { "at \($0.rfc3339)" } ?? "at the end of what the store knows"
    var answer = WhyAnswer(subject: "Device \(personal.id(name).text ?? "") \(moment)")
    let index = at.map { timeline.last(at: $0) } ?? timeline.entries.indices.last
    answer.add("events", "events", events(index))
    if let index { stories?.tell(ofDeviceAfter: index, at: at, in: timeline, &answer) }
    if at == nil, let stored = try store.timelines.device(device), let words = try stories?.state(of: stored) {
      answer.add("state", "now", words)
    }
    try stories?.tellHistory(of: name, &answer)
    answer.add("statuses", "statuses", statuses)
    return answer
  }

  private func events(_ index: Int?) -> [String] {
    guard let first = timeline.entries.first, let last = timeline.entries.last else {
      return ["the store has no event of it"]
    }
    var lines = [
      "\(timeline.entries.count) in the store, from \(first.timestamp.rfc3339) to \(last.timestamp.rfc3339)"
    ]
    guard let index else { return lines + ["none of them had happened by then"] }
    let entry = timeline.entries[index]
    lines.append("the last by then: \(entry.words) at \(entry.timestamp.rfc3339) (\(entry.reference))")
    return lines
  }

  private var statuses: [String] {
    let counts = Dictionary(grouping: timeline.entries, by: \.stored.status.name).mapValues(\.count)
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
  }
}
