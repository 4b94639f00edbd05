import BatchFoundation
import BatchJSON
import BatchReport
import BatchStore

/// Where a device stood at an instant, and what waits for it.
struct DeviceStory {
  private let store: EventStore
  private let personal: PersonalData
  private let device: [UInt8]
  private let timeline: DeviceTimeline
  /// Nil for the end of what the store knows.
  private let at: Instant?

  init(_ device: [UInt8], at: Instant?, in store: EventStore, _ personal: PersonalData) throws {
    self.store = store
    self.personal = personal
    self.device = device
    self.at = at
    timeline = try DeviceTimeline(of: device, in: store)
  }

  private var name: String { String(decoding: device, as: UTF8.self) }

  func answer() throws -> WhyAnswer {
    let moment = at.map { "at \($0.rfc3339)" } ?? "at the end of what the store knows"
    var answer = WhyAnswer(subject: "Device \(personal.id(name).text ?? "") \(moment)")
    let index = at.map { timeline.last(at: $0) } ?? timeline.entries.indices.last
    answer.add("events", "events", events(index))
    if let index {
      answer.add("session", "session", session(index))
      answer.add("campaign", "campaign", campaign(index))
    }
    if at == nil, let stored = try store.device(device),
      let words = try InstalledPlatforms.of(store)?.words(for: stored)
    {
      answer.add("state", "now", words)
    }
    answer.add("identity", "identity", try identity())
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
    lines.append("the last by then: \(entry.words) at \(entry.timestamp.rfc3339) (event \(entry.id))")
    return lines
  }

  private func session(_ index: Int) -> [String] {
    guard timeline.entries[index].type != DeviceTimeline.ended, let session = timeline.session(at: index) else {
      return ["none was under way"]
    }
    let start = session.start.map { "began at \($0.timestamp.rfc3339)" } ?? "its begin is not in the store"
    if let end = session.end {
      let isOver = at.map { end.timestamp < $0 } ?? true
      return ["\(start); \(isOver ? "had ended" : "ended later,") at \(end.timestamp.rfc3339)"]
    }
    return ["\(start), with \(session.events.counted("event")) so far; its end is not in the store yet"]
  }

  private func campaign(_ index: Int) -> [String] {
    for place in timeline.entries[...index].indices.reversed() {
      guard timeline.entries[place][timeline.campaignAttribute] != nil else { continue }
      guard let campaign = timeline.campaign(at: place) else { return ["the last event by then carried none"] }
      let entry = campaign.first
      let source = entry.campaignSource.map { "with \($0)" } ?? "before the \(entry.words)"
      return [
        "'\(campaign.name.printable)', carried by the last event by then; it came \(source) at "
          + "\(entry.timestamp.rfc3339) (event \(entry.id))"
      ]
    }
    return ["no event by then carried one"]
  }

  private func identity() throws -> [String] {
    try InstalledPlatforms.of(store)?.serviceHistory(of: name, in: store) ?? []
  }

  private var statuses: [String] {
    let counts = Dictionary(grouping: timeline.entries, by: \.stored.status.name).mapValues(\.count)
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
  }
}
