import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import Engage
import EngageRules

/// The sessions, campaigns and identities of a device, derived from its events.
struct EngageStories: PlatformStories {
  let store: EventStore
  let personal: PersonalData
  private let settings: Settings
  private var codes: EventCodes { settings.general.eventCodes }
  private let campaigns: CampaignTimeline
  /// The attribute and unit in which the event at the end of a session reports the time of use.
  private let useTime: (name: String, unit: String)

  init(_ store: EventStore, _ personal: PersonalData) throws {
    self.store = store
    self.personal = personal
    settings = try Self.settings(of: store)
    let codes = settings.general.eventCodes
    campaigns = CampaignTimeline(
      attribute: settings.attributeNames[.campaign], codes: settings.general.eventCodes)
    useTime =
      codes[.sessionEnded].fields.contains(.activeMinutes)
      ? (settings.attributeNames[.activeMinutes], "min") : (settings.attributeNames[.activeSeconds], "s")
  }

  /// Returns the settings of the last run whose configuration is in the store.
  static func settings(of store: EventStore) throws -> Settings {
    let run = try store.runs.all().last { !$0.configurationDigest.isEmpty }
    return .stored(
      try run.map { try store.runs.settings(digest: $0.configurationDigest).map { ($0.name, $0.value) } } ?? [])
  }

  func name(ofType type: String) -> String? { codes.words(for: type) }

  // MARK: - Events

  func describe(_ index: Int, in timeline: DeviceTimeline, _ processed: ProcessedBy, _ answer: inout Facts) throws {
    answer.add("meaning", titled: "meaning", meaning(timeline.entries[index]))
    answer.add("session", titled: "session", session(index, timeline, processed))
    answer.add("campaign", titled: "campaign", campaign(index, timeline, processed))
    answer.add("identity", titled: "identity", try identity(timeline.entries[index]))
  }

  /// Describes the event's kind if several kinds share its code and its attributes distinguish them; otherwise returns
  /// an empty list.
  private func meaning(_ event: DeviceTimeline.Entry) -> [String] {
    let kinds = codes.kinds(of: event.type)
    guard kinds.count > 1, !kinds.contains(.sessionStarted) else { return [] }
    let marks: [(field: AutomaticField, kinds: Set<EventKind>)] = [
      (.eventName, [.namedEvent]), (.goalName, [.goalCompleted, .goalAbandoned]), (.callToAction, [.link]),
    ]
    for mark in marks {
      let name = settings.attributeNames[mark.field]
      let meanings = kinds.filter { mark.kinds.contains($0) }.map(\.words)
      guard !meanings.isEmpty, event.attribute(name) != nil else { continue }
      return ["\(meanings.reversed().joined(separator: " or ")), according to its attribute '\(name)'"]
    }
    return ["\(kinds.contains(.link) ? "link opened, or " : "")a custom event of the app with this code"]
  }

  private func session(_ index: Int, _ timeline: DeviceTimeline, _ processed: ProcessedBy) -> [String] {
    if timeline.entries[index].stored.isLate { return ["none: \(Self.late)"] }
    guard let session = timeline.session(at: index, codes) else {
      return ["the store shows no open session at that time"]
    }
    var words =
      session.start.map { "began at \($0.timestamp.rfc3339)" } ?? "the start of the session is not in the store"
    if session.events > 1 { words += "; this is event \(session.events) of the session" }
    guard let end = session.end else { return [words + "; the end of the session is not in the store yet"] }
    let length = end.attribute(useTime.name).map { ", after \($0) \(useTime.unit) of use" } ?? ""
    return [
      words + "; the session ended at \(end.timestamp.rfc3339)\(length)",
      "a session ends when the app has been unused for " + processed.setting("Session.sessionLifecycleExpiration"),
    ]
  }

  private func campaign(_ index: Int, _ timeline: DeviceTimeline, _ processed: ProcessedBy) -> [String] {
    let event = timeline.entries[index]
    guard event.attribute(campaigns.attribute) != nil else { return ["the event carries no campaign"] }
    if event.stored.isLate {
      let own = event.attribute(campaigns.attribute) ?? ""
      return [own.isEmpty ? "none: \(Self.late)" : "'\(own.printable)': named by the record itself; \(Self.late)"]
    }
    guard let campaign = campaigns.campaign(at: index, in: timeline) else {
      guard let last = campaigns.last(before: index, in: timeline) else {
        return ["none: no earlier event in the store carries a campaign"]
      }
      return [
        "none was active: '\(last.name.printable)', which was set \(origin(last.first)), had expired by then",
        "a campaign ends at its own expiry; a campaign without an expiry lasts "
          + processed.setting("General.defaultCurrentCampaignExpiration"),
      ]
    }
    let origin =
      campaign.first.id == event.id
      ? event.campaignSource(settings) == nil ? "this is the first event that carries it" : "this event set it"
      : "it was set \(origin(campaign.first))"
    return ["'\(campaign.name.printable)': \(origin)\(again(campaign))"]
  }

  /// Describes a later notification that may have set the campaign again; empty if there is none.
  private func again(_ campaign: CampaignTimeline.Origin) -> String {
    campaign.again.map {
      "; the \($0.words) at \($0.timestamp.rfc3339) (\($0.reference)) may have set it again"
    } ?? ""
  }

  private static let late =
    "the event's record arrived after later ones had been processed, too late to rewind sessions and campaigns"

  private func origin(_ entry: DeviceTimeline.Entry) -> String {
    entry.campaignSource(settings).map { "by \($0) at \(entry.timestamp.rfc3339) (\(entry.reference))" }
      ?? "before the \(entry.words) at \(entry.timestamp.rfc3339) (\(entry.reference))"
  }

  private func identity(_ event: DeviceTimeline.Entry) throws -> [String] {
    guard let recipient = event.attribute("Recipient Id") else { return [] }
    let user = event.attribute("Primary User Id") ?? ""
    func named(_ name: String, _ id: String) -> String {
      id.isEmpty ? "no \(name) is known" : "\(name) \(personal.id(id).text ?? "")"
    }
    var lines = ["\(named("recipient", recipient)), \(named("mobile user id", user))"]
    let device = String(decoding: event.stored.device, as: UTF8.self)
    for plan in try store.merges.plans(of: device) where plan.emission < event.emission || plan.state.rawValue != "done"
    {
      lines.append("plan \(plan.id): \(words(plan)); \(show(plan))")
      if plan.state == .refused { lines.append(try refusal(plan)) }
    }
    return lines
  }

  private func refusal(_ plan: MergePlan) throws -> String {
    let source = try store.identities.recordSource(of: plan).map { "\($0): " } ?? ""
    return "\(source)\(plan.reason.printable); fix the cause, then run: \(plan.repetition(in: store))"
  }

  private func words(_ plan: MergePlan) -> String {
    "\(plan.scenario.words) (\(plan.scenario.rawValue)), \(plan.state.rawValue)"
  }

  private func show(_ plan: MergePlan) -> String {
    "details: " + ShellCommand("identity", "show", String(plan.id), "--store", store.path).text
  }

  // MARK: - Devices

  func describeDevice(after index: Int, at instant: Instant?, in timeline: DeviceTimeline, _ answer: inout Facts) {
    answer.add("session", titled: "session", session(after: index, at: instant, timeline))
    answer.add("campaign", titled: "campaign", campaign(after: index, timeline))
  }

  private func session(after index: Int, at instant: Instant?, _ timeline: DeviceTimeline) -> String {
    guard !timeline.entries[index].isKind(.sessionEnded, codes), let session = timeline.session(at: index, codes) else {
      return "no session was open"
    }
    let start =
      session.start.map { "began at \($0.timestamp.rfc3339)" } ?? "the start of the session is not in the store"
    if let end = session.end {
      let isOver = instant.map { end.timestamp < $0 } ?? true
      return "\(start); \(isOver ? "ended" : "ended later,") at \(end.timestamp.rfc3339)"
    }
    return "\(start), with \(session.events.counted("event")) so far; the end of the session is not in the store yet"
  }

  private func campaign(after index: Int, _ timeline: DeviceTimeline) -> String {
    for place in timeline.entries[...index].indices.reversed() where !timeline.entries[place].stored.isLate {
      guard timeline.entries[place].attribute(campaigns.attribute) != nil else { continue }
      guard let campaign = campaigns.campaign(at: place, in: timeline) else {
        return "the last event up to then carried no campaign"
      }
      let entry = campaign.first
      let source = entry.campaignSource(settings).map { "by \($0)" } ?? "before the \(entry.words)"
      return
        "'\(campaign.name.printable)', carried by the last event up to then, at \(timeline.entries[place].timestamp.rfc3339); "
        + "it was set \(source) at \(entry.timestamp.rfc3339) (\(entry.reference))\(again(campaign))"
    }
    return "no event up to then carried a campaign"
  }

  func state(of device: StoredDevice) throws -> [String] {
    let known = try store.runs.knownUntil()
    return try unsafe device.state.withUnsafeBytes { bytes in
      let state = try unsafe DeviceState(decoding: bytes)
      var lines: [String] = []
      switch state.session {
      case .none: lines.append("no session is open")
      case .active(let start, _): lines.append("a session has been active since \(start.rfc3339)")
      case .paused(let pause):
        lines.append(
          "a session has been paused since \(pause.at.rfc3339); unless the app is used again, the session ends with the first "
            + "record or run after \(pause.expiresAt.rfc3339)"
        )
      }
      if let campaign = state.campaign {
        let isOver = [state.lastSeen, known].compactMap { $0 }.max().map { !campaign.isActive(at: $0) } ?? false
        lines.append(
          "campaign '\(campaign.name.description.printable)' "
            + (isOver ? "expired at" : "is active until") + " \(campaign.expiresAt.rfc3339)")
      }
      if state.consent.isDenied {
        lines.append("consent is denied: the device's data is not sent until consent is given")
      }
      if !state.heldSessionEvents.isEmpty {
        lines.append(
          state.heldSessionEvents.count.counted("session event is", "session events are")
            + " pending (HOLD) until a record contains a mobile user id, or until 'identity' is true and "
            + "Recipient.enableAutoAnonymousTracking is enabled")
      }
      if !state.held.isEmpty {
        lines.append(
          state.held.count.counted("event is", "events are")
            + " pending (HOLD) until the next run, because a location may still arrive (Augmentation.augmentationTimeout)"
        )
      }
      lines.append(
        state.hasLifecycle
          ? "the device's exports have lifecycle records, which define sessions"
          : "the device's exports have no lifecycle records, so gaps between events define sessions")
      return lines
    }
  }

  func describeHistory(of device: String, _ answer: inout Facts) throws {
    answer.add(
      "identity", titled: "identity",
      try store.merges.plans(of: device).map { plan in
        if plan.state == .refused { return try "plan \(plan.id): \(words(plan)); \(refusal(plan))" }
        let reason = plan.reason.isEmpty ? "" : " (\(plan.reason.printable))"
        return
          "plan \(plan.id) of \(plan.created.rfc3339): \(words(plan))\(reason); "
          + show(plan)
      })
  }
}
