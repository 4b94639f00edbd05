import ArgumentParser
import BatchFoundation
import BatchJSON
import BatchReport
import BatchStore
import EngageRules

/// `engage-batch store sessions`: where each device's session stands.
struct StoreSessionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "List the devices of a store with their sessions.")

  @OptionGroup var options: StoreOptions
  @OptionGroup var personal: PersonalDataOption

  func run() throws {
    try options.reading { store in
      let policy = try personal.policy(for: store)
      var listing = Listing(options.format, columns: SessionRow.columns)
      try store.forEachDeviceState { listing.add(SessionRow.cells($0, policy)) }
      listing.end()
    }
  }
}

/// `engage-batch store campaigns`: the campaign of each device that has one.
struct StoreCampaignsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "campaigns", abstract: "List the devices of a store that have a campaign, with its expiry.")

  @OptionGroup var options: StoreOptions
  @OptionGroup var personal: PersonalDataOption

  @Option(help: "When a campaign has to be active, in RFC 3339. (default: now)")
  var asOf: Instant?

  func run() throws {
    let instant = asOf ?? .now
    try options.reading { store in
      let policy = try personal.policy(for: store)
      var listing = Listing(options.format, columns: CampaignRow.columns)
      try store.forEachDeviceState { state in
        if let cells = CampaignRow.cells(state, at: instant, policy) { listing.add(cells) }
      }
      listing.end()
    }
  }
}

/// A device's session as a row.
enum SessionRow {
  static let columns = [
    "device", "session", "mode", "startedAt", "pausedAt", "expiresAt", "usedMilliseconds", "heldEvents", "lastSeen",
  ]

  /// `startedAt` is the begin of the present stretch of use, `usedMilliseconds` what counted before it, or up to the pause.
  static func cells(_ state: DeviceState, _ personal: PersonalData) -> [JSONNode] {
    var name = "none"
    var (started, paused, expires): (Instant?, Instant?, Instant?)
    var used: Int64?
    switch state.session {
    case .none: break
    case .active(let start, let accumulated):
      name = "active"
      started = start
      used = accumulated.count
    case .paused(let pause):
      name = "paused"
      (started, paused, expires) = (pause.segmentStart, pause.at, pause.expiresAt)
      used = pause.accumulated.count
    }
    return [
      .text(personal.id(state.device.description).text), .text(name),
      .text(state.hasLifecycle ? "lifecycle" : "gap"), .text(started?.rfc3339), .text(paused?.rfc3339),
      .text(expires?.rfc3339), used.map { .number($0) } ?? .text(nil), .number(state.heldCount),
      .text(state.lastSeen?.rfc3339),
    ]
  }
}

/// A device's campaign as a row.
enum CampaignRow {
  static let columns = ["device", "campaign", "expiresAt", "active"]

  /// Nil for a device that never had a campaign.
  static func cells(_ state: DeviceState, at instant: Instant, _ personal: PersonalData) -> [JSONNode]? {
    guard let campaign = state.campaign else { return nil }
    return [
      .text(personal.id(state.device.description).text), .text(campaign.name.description),
      .text(campaign.expiresAt.rfc3339), .flag(campaign.isActive(at: instant)),
    ]
  }
}

extension EventStore {
  /// Hands the state of every device to `body`, by the bytes of its id; the state is valid for that call only.
  func forEachDeviceState(_ body: (DeviceState) throws -> Void) throws {
    try forEachDevice { stored in
      try stored.state.withUnsafeBytes { try body(DeviceState(decoding: $0)) }
    }
  }
}
