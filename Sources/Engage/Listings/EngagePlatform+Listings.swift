package import BatchConfiguration
package import BatchFoundation
package import BatchPipeline
package import BatchReport
package import BatchStore
import EngageRules

extension EngagePlatform {
  package var eventColumns: [EventColumn] {
    [
      EventColumn("eventTypeCode"), EventColumn("eventTimestamp"), EventColumn("device", .id),
      EventColumn("attributes", .values),
    ]
  }

  package func describe(_ event: JSONView, device: JSONView?) -> EventDescription {
    let attributes = event["attributes"]
    return EventDescription(
      type: event["eventTypeCode"]?.string,
      values: [
        event["eventTypeCode"], event["eventTimestamp"],
        device ?? attributes?.elements.first { $0["name"]?.string == "Device Id" }?["value"], attributes,
      ])
  }

  package func lastSeen(_ device: StoredDevice) throws -> Instant? {
    try unsafe device.state.withUnsafeBytes { try unsafe DeviceState(decoding: $0).lastSeen }
  }

  package func summary(of device: StoredDevice) throws -> String {
    try unsafe device.state.withUnsafeBytes { try unsafe DeviceState(decoding: $0).summary }
  }

  package func unsentEvents(in store: EventStore) throws -> [UnsentEvents] {
    let counts = try store.ledger.statusCounts()
    return try UnsentEvents.all(
      in: store, held: held(in: store, counts[.hold] ?? 0),
      expired: .of(
        .expired, counts, "no location or placemark arrived in time", "Augmentation.augmentationTimeout",
        "the next run or 'post', which sends the events as they are"))
  }

  private func held(in store: EventStore, _ count: Int) throws -> [UnsentEvents] {
    guard count > 0 else { return [] }
    var waitForUser = 0
    var waitForSamples = 0
    try store.timelines.forEachHoldingDevice { stored in
      let state = try unsafe stored.state.withUnsafeBytes { bytes in
        let state = try unsafe DeviceState(decoding: bytes)
        return (state.heldSessionEvents.count, state.held.count)
      }
      waitForUser += state.0
      waitForSamples += state.1
    }
    func held(_ count: Int, _ reason: String, _ setting: String, _ ends: String) -> UnsentEvents? {
      .of(.hold, [.hold: count], reason, setting, ends)
    }
    let waitForIdentity = count - waitForUser - waitForSamples
    var unidentified = held(
      waitForIdentity,
      waitForIdentity == 1
        ? "the identity of its device is not resolved yet" : "the identities of their devices are not resolved yet",
      "Recipient.holdEventsUntilIdentified, or a set-up that is not finished",
      "the run that resolves the identities"
        + (try store.merges.openPlans().isEmpty ? "" : "; see 'identity list --open'"))
    let awaiting = try store.identities.awaiting()
    if let since = awaiting.first?.since {
      let devices = awaiting.count.counted("device has", "devices have")
      let abandon = ShellCommand("identity", "abandon", "--store", store.path, "--device").text
      unidentified?.advice = "\(devices) no recipient yet (since \(since.rfc3339)). The next run tries again"
      unidentified?.release = "to send a device's events without one: \(abandon) ID"
    }
    var anonymous = held(
      waitForUser,
      waitForUser == 1
        ? "a session event of a device whose mobile user id is not known"
        : "session events of devices whose mobile user id is not known", "the job's 'identity'",
      "a record that names one, or a run with 'identity' true and Recipient.enableAutoAnonymousTracking")
    anonymous?.advice =
      (waitForUser == 1
        ? "its device has no mobile user id. The event is sent once a record names the id; "
        : "their devices have no mobile user ids. The events are sent once records name the ids; ")
      + "if none will, set the job's 'identity' to true and Recipient.enableAutoAnonymousTracking"
    return [
      anonymous,
      held(
        waitForSamples, "a location or placemark may still arrive", "Augmentation.augmentationTimeout",
        "the next run with later records, or with a later --as-of"),
      unidentified,
    ].compactMap(\.self)
  }

  package func newOwners(in store: EventStore, of run: RunID) throws -> NewOwners? {
    try store.identities.newOwners(of: run)
  }

  package func stoppedPlans(in store: EventStore) throws -> Int {
    try store.merges.openPlans().count { $0.state == .conflict || $0.state == .held }
  }

  package func obstacle(toMoving store: EventStore) throws -> String? {
    let open = try store.merges.openPlans().count
    guard open > 0, let destination = try store.destination() else { return nil }
    let list = ShellCommand("identity", "list", "--open", "--store", store.path).text
    let plans = open.counted("unfinished identity plan applies", "unfinished identity plans apply")
    return "\(plans) only to \(destination); see: \(list)"
  }

  package func outline(_ event: JSONNode, _ settings: Settings, into outline: inout DeviceOutline) {
    guard let code = event["eventTypeCode"]?.string else { return }
    let time = event["eventTimestamp"]?.string
    outline.events[code, default: 0] += 1
    let names = settings.attributeNames
    func value(_ name: String) -> String? {
      event["attributes"]?.array?.last { $0["name"]?.string == name }?["value"]?.string
    }
    let kinds = settings.general.eventCodes.kinds(of: code)
    if kinds.contains(.sessionStarted) {
      // The event for a link opened in a session has the code of a start, but does not begin another session.
      if outline.sessions.last.map({ $0.end != nil }) ?? true { outline.sessions.append(.init(start: time)) }
    } else if kinds.contains(.sessionEnded) {
      if outline.sessions.last.map({ $0.end != nil }) ?? true { outline.sessions.append(.init()) }
      let last = outline.sessions.count - 1
      outline.sessions[last].end = time
      let isInMinutes = settings.general.eventCodes[.sessionEnded].fields.contains(.activeMinutes)
      outline.sessions[last].seconds = value(names[isInMinutes ? .activeMinutes : .activeSeconds]).flatMap {
        Int64($0).map { isInMinutes ? $0 * 60 : $0 }
      }
    }
    if let campaign = value(names[.campaign]), !campaign.isEmpty {
      outline.campaigns[campaign, default: 0] += 1
    }
  }

  package func coverage(of run: RunContext, _ figures: [String: Int], _ details: ProcessingDetails?) -> [RuleCoverage] {
    func rule(_ name: String, _ figure: EngageFigure) -> RuleCoverage { RuleCoverage(.rule, name, figures[figure]) }
    var rules = [
      rule("a session begins", .sessionsStarted), rule("a session ends", .sessionsEnded),
      rule("a campaign is set", .campaignsSet), rule("a campaign expires", .campaignsExpired),
    ]
    if run.job.identity {
      rules.append(rule("an identity is checked", .identityChecks))
    } else {
      rules.append(rule("events are held until the mobile user id is known", .heldForUserId))
    }
    guard let details, let file = (details.rules as? EngagePlatformRules)?.links.file else { return rules }
    return rules
      + file.routes.indices.map { RuleCoverage(.route, file.routes[$0].key, details.uses[$0, default: 0]) }
  }
}
