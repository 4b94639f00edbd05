import BatchFoundation
import BatchReport
import BatchStore
import GameRules
import Games

/// The players, sessions and triggered campaigns of a game, derived from its events.
struct GameStories: PlatformStories {
  let store: EventStore
  let personal: PersonalData

  func describe(_ index: Int, in timeline: DeviceTimeline, _ settings: ProcessedBy, _ answer: inout Facts) {
    let entry = timeline.entries[index]
    answer.add("player", titled: "player", player(entry))
    answer.add("session", titled: "session", session(of: index, timeline, settings))
    answer.add("campaign", titled: "campaign", campaign(of: index, timeline, settings))
    if let id = entry.member("eventUUID") { answer.add("collect", titled: "at Collect", "eventUUID \(id.printable)") }
  }

  func describeDevice(after index: Int, at instant: Instant?, in timeline: DeviceTimeline, _ answer: inout Facts) {
    answer.add("player", titled: "player", player(timeline.entries[index]))
    answer.add("session", titled: "session", session(after: index, timeline))
    answer.add("campaign", titled: "campaign", campaign(after: index, timeline))
  }

  /// Describes the last campaign that responded or whose notification was opened. It is found in the events, because a
  /// game's device state has no campaign.
  private func campaign(after index: Int, _ timeline: DeviceTimeline) -> String {
    for entry in timeline.entries[...index].reversed() {
      let campaign = entry.type == Self.responded ? name(entry) : push(entry)
      if let campaign {
        return "the last one up to then: \(campaign), at \(entry.timestamp.rfc3339) (\(entry.reference))"
      }
    }
    return "none up to then: no trigger responded, and no notification was opened"
  }

  private func player(_ entry: DeviceTimeline.Entry) -> String {
    entry.member("userID").map { "userID \(personal.id($0).text ?? "")" } ?? "the event has no userID"
  }

  // MARK: - Sessions

  private func events(ofSession id: String, _ timeline: DeviceTimeline) -> [Int] {
    timeline.entries.indices.filter { timeline.entries[$0].member("sessionID").map { $0.isIdentical(to: id) } ?? false }
  }

  private func session(of index: Int, _ timeline: DeviceTimeline, _ settings: ProcessedBy) -> [String] {
    guard let id = timeline.entries[index].member("sessionID") else {
      return [
        "none: the event was recorded without a sessionID, and the setting for adding one was \(settings.setting("DeltaDNA.fillSessionID"))"
      ]
    }
    let events = events(ofSession: id, timeline)
    let place = events.firstIndex(of: index) ?? 0
    let first = timeline.entries[events.first ?? index]
    var words = "\(id.printable): its first event in the store is \(first.type.printable) at \(first.timestamp.rfc3339)"
    if events.count > 1 { words += "; this is event \(place + 1) of \(events.count)" }
    return [words, end(events, timeline)]
  }

  private func end(_ events: [Int], _ timeline: DeviceTimeline) -> String {
    if let end = events.last(where: { timeline.entries[$0].type == Self.ended }) {
      return "the session ended with \(Self.ended) at \(timeline.entries[end].timestamp.rfc3339)"
    }
    return
      "the store has no \(Self.ended) event for this session; one is produced only if a record says that the app or SDK stopped"
  }

  private func session(after index: Int, _ timeline: DeviceTimeline) -> [String] {
    let entry = timeline.entries[index]
    guard let id = entry.member("sessionID") else { return ["the last event up to then belonged to no session"] }
    guard entry.type != Self.ended else { return ["no session was open: the last event up to then was \(Self.ended)"] }
    return [
      "\(id.printable), the session of the last event up to then", end(events(ofSession: id, timeline), timeline),
    ]
  }

  /// The event that an app or SDK sends when it stops (reference deltadna 4).
  private static let ended = "gameEnded"
  /// The event emitted when a trigger responds, directly after the event that triggered it (reference deltadna 7).
  private static let responded = "ddnaEventTriggeredAction"

  // MARK: - Campaigns

  private func campaign(of index: Int, _ timeline: DeviceTimeline, _ settings: ProcessedBy) -> [String] {
    let entries = timeline.entries
    if entries[index].type == Self.responded {
      // Several campaigns may respond to one event.
      let cause = entries[..<index].last { $0.type != Self.responded }
      guard let cause, cause.timestamp == entries[index].timestamp else {
        return [
          name(entries[index])
            + " responded to an event that is not in the store, because the event was quarantined or purged"
        ]
      }
      return [name(entries[index]) + " responded to \(cause.type.printable) (\(cause.reference))"]
    }
    let responses = entries[(index + 1)...].prefix {
      $0.type == Self.responded && $0.timestamp == entries[index].timestamp
    }.map { name($0) + " responded to this event (\($0.reference))" }
    let push = push(entries[index]).map { ["\($0), which the player opened"] } ?? []
    guard responses.isEmpty else { return push + responses }
    let triggers =
      settings.isEmpty(Self.triggers)
      ? "there are no triggers (\(Self.triggers) names no file)" : "no trigger responded to the event"
    return push + [push.isEmpty ? "none: \(triggers)" : triggers]
  }

  /// The setting that names the file of triggers.
  private static let triggers = "DeltaDNA.sessionConfiguration"

  /// Describes the campaign of an opened notification; nil for any other event.
  private func push(_ entry: DeviceTimeline.Entry) -> String? {
    guard entry.type == "notificationOpened" else { return nil }
    let parameters = entry.event["eventParams"]
    func parameter(_ name: String, _ words: String) -> String? {
      parameters?[name].map { "\(words) \(($0.string ?? $0.compactText).printable)" }
    }
    let title = parameters?["notificationName"]?.string.map { " '\($0.printable)'" } ?? ""
    let ids = [
      parameter("campaignId", "campaign"), parameter("cohortId", "cohort"), parameter("notificationId", "notification"),
    ].compactMap(\.self)
    return "push\(title)" + (ids.isEmpty ? " without a campaign" : " of \(ids.joined(separator: ", "))")
  }

  private func name(_ entry: DeviceTimeline.Entry) -> String {
    func parameter(_ name: String) -> String? {
      entry.event["eventParams"]?["ddnaEventTriggered\(name)"].map { ($0.string ?? $0.compactText).printable }
    }
    let title = parameter("CampaignName").map { " '\($0)'" } ?? ""
    return "campaign \(parameter("CampaignID") ?? "")\(title), variant \(parameter("VariantID") ?? "")"
  }

  // MARK: - Devices

  func state(of device: StoredDevice) throws -> [String] {
    try unsafe device.state.withUnsafeBytes { bytes in
      let state = try unsafe GameState(decoding: bytes)
      var lines: [String] = []
      // Inactivity ends a session only when the next record arrives, so the state does not show whether the
      // session has ended.
      var isSilent = false
      switch state.phase {
      case .off: lines.append("the app is not running")
      case .on: lines.append("the app is in the foreground")
      case .away(let since):
        isSilent = true
        lines.append("the app has been in the background since \(since.rfc3339)")
      case .open(let last):
        isSilent = true
        lines.append(
          "the device's exports have no lifecycle records; a session is open, with its last event at \(last.rfc3339)")
      }
      lines.append(
        state.session.isEmpty
          ? "no session is open; the next event, or the next start of the app, starts one"
          : "session \(state.session) "
            + (isSilent
              ? "continues if the device is used again within DeltaDNA.sessionTimeoutSeconds; otherwise it ends"
              : "is open"))
      if state.isOptedOut { lines.append("the player has opted out: the player's data is not sent") }
      if state.isDenied { lines.append("consent is denied: the device's data is not sent until consent is given") }
      return lines
    }
  }

  func describeHistory(of device: String, _ answer: inout Facts) throws {
    answer.add(
      "decisions", titled: "decisions",
      try store.decisions.questions(ofDevice: device).map { decision in
        "\(decision.place.printable) at \(decision.timestamp.rfc3339): \(decision.words)"
      })
  }
}

extension DeviceTimeline.Entry {
  /// Returns the string of a member next to `eventParams`; nil if it is missing or not a string.
  fileprivate func member(_ name: String) -> String? { event[name]?.string }
}
