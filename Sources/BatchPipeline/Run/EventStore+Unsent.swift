import BatchConfiguration
package import BatchReport
package import BatchStore
import EngageRules

extension EventStore {
  /// Every event of the store that was not sent: how many, why, under which setting, and what ends it.
  package func unsentEvents() throws -> [UnsentEvents] {
    let counts = try statusCounts()
    var waitForUser = 0
    var waitForSamples = 0
    var unsent: [UnsentEvents] = []
    func add(_ status: EventStatus, _ count: Int, _ reason: String, _ setting: String, _ ends: String) {
      guard count > 0 else { return }
      unsent.append(
        UnsentEvents(status: status.name, events: count, reason: reason, setting: setting, ends: ends))
    }
    if let held = counts[.hold] {
      try forEachHoldingDevice { stored in
        let state = try stored.state.withUnsafeBytes { bytes in
          let state = try DeviceState(decoding: bytes)
          return (state.waiting.count, state.held.count)
        }
        waitForUser += state.0
        waitForSamples += state.1
      }
      add(
        .hold, waitForUser, "session events of devices whose mobile user id is not known", "'identity' of the job",
        "a record that names one, or with 'identity' true and Recipient.enableAutoAnonymousTracking")
      add(
        .hold, waitForSamples, "a location or placemark may still complete them", "Augmentation.augmentationTimeout",
        "the next run with later records, or with a later --as-of")
      add(
        .hold, held - waitForUser - waitForSamples, "the identity of their devices is not finished",
        "Recipient.holdEventsUntilIdentified", "the run that finishes it; see 'identity list --open'")
    }
    add(
      .notPosted, counts[.notPosted] ?? 0, "not sent yet, or sent in vain", "--no-upload, --max-quarantine, Networking",
      "the next run, or 'post'")
    if try isOfGames {
      add(
        .expired, counts[.expired] ?? 0, "older, or further ahead, than the service takes",
        "DeltaDNA.oldestEvent, DeltaDNA.furthestAhead",
        "nothing: the service would refuse them")
    } else {
      add(
        .expired, counts[.expired] ?? 0, "their campaign was over before they were sent",
        "General.defaultCurrentCampaignExpiration", "the next run, or 'post', which sends them as they are")
    }
    add(
      .processing, counts[.processing] ?? 0, "a run that was killed left them in a request", "Upload.onUnknown",
      "the next run, or 'post'")
    add(
      .unknown, counts[.unknown] ?? 0, "the answer to their request was lost", "Upload.onUnknown is 'hold'",
      "'store requeue --status UNKNOWN', after a look at the service")
    add(
      .failedPost, counts[.failedPost] ?? 0, "the service refused them, or failed at them again and again",
      "Networking.maxNumRetries", "'store requeue --status FAILED_POST', when the cause is fixed")
    return unsent
  }
}

extension EventStore {
  /// Whether the states of its devices are those of games.
  var isOfGames: Bool {
    get throws { try destination()?.kind == Job.Destination.deltadna.rawValue }
  }
}
