import ArgumentParser
import BatchFoundation
import BatchJSON
import BatchReport
import BatchStore
import EngageRules

/// `engage-batch store sessions`: where each device's session stands.
struct StoreSessionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "List the devices of a store with their sessions.",
    discussion: """
      --from and --to look at the last record of a device.
      """)

  enum Status: String, ExpressibleByArgument, CaseIterable { case none, active, paused }

  @OptionGroup var options: StoreOptions
  @OptionGroup var personal: PersonalDataOption

  @Option(help: "Only devices whose session is so: none, active or paused.")
  var status: Status?

  @OptionGroup var part: ListingPart

  @Option(help: "Only devices behind this one: the last of a listing with --limit.")
  var after: String?

  func run() throws {
    try options.reading { store, _ in
      let policy = try personal.policy(for: store)
      var listing = Listing(options.format, columns: SessionRow.columns)
      try store.forEachDeviceState(part, after: after) { state in
        guard part.contains(state.lastSeen), status.map({ $0.rawValue == SessionRow.status(state) }) ?? true
        else { return false }
        listing.add(SessionRow.cells(state, policy))
        return true
      }
      listing.end()
    }
  }
}

/// `engage-batch store campaigns`: the campaign of each device that has one.
struct StoreCampaignsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "campaigns", abstract: "List the devices of a store that have a campaign, with its expiry.",
    discussion: """
      --from and --to look at the expiry of a campaign.
      """)

  enum Status: String, ExpressibleByArgument, CaseIterable { case active, expired }

  @OptionGroup var options: StoreOptions
  @OptionGroup var personal: PersonalDataOption

  @Option(help: "When a campaign has to be active, in RFC 3339. (default: now)")
  var asOf: Instant?

  @Option(help: "Only devices with this campaign, by its name.")
  var campaign: String?

  @Option(help: "Only campaigns that are so: active or expired.")
  var status: Status?

  @OptionGroup var part: ListingPart

  @Option(help: "Only devices behind this one: the last of a listing with --limit.")
  var after: String?

  func run() throws {
    let instant = asOf ?? .now
    try options.reading { store, _ in
      let policy = try personal.policy(for: store)
      var listing = Listing(options.format, columns: CampaignRow.columns)
      try store.forEachDeviceState(part, after: after) { state in
        guard let stored = state.campaign, part.contains(stored.expiresAt),
          status.map({ ($0 == .active) == stored.isActive(at: instant) }) ?? true,
          campaign.map({ stored.name.bytes.elementsEqual($0.utf8) }) ?? true,
          let cells = CampaignRow.cells(state, at: instant, policy)
        else { return false }
        listing.add(cells)
        return true
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

  /// Where the session stands, in one word.
  static func status(_ state: DeviceState) -> String {
    switch state.session {
    case .none: "none"
    case .active: "active"
    case .paused: "paused"
    }
  }

  /// `startedAt` is the begin of the present stretch of use, `usedMilliseconds` what counted before it, or up to the pause.
  static func cells(_ state: DeviceState, _ personal: PersonalData) -> [JSONNode] {
    var (started, paused, expires): (Instant?, Instant?, Instant?)
    var used: Int64?
    switch state.session {
    case .none: break
    case .active(let start, let accumulated):
      started = start
      used = accumulated.count
    case .paused(let pause):
      (started, paused, expires) = (pause.segmentStart, pause.at, pause.expiresAt)
      used = pause.accumulated.count
    }
    return [
      .text(personal.id(state.device.description).text), .text(status(state)),
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
  /// Hands states of devices to `body`, by the bytes of their ids, until it has shown as many as are wanted; a state is valid for
  /// that call only.
  ///
  /// - Parameter body: whether the device was shown.
  /// - Throws: ``UnknownName`` for a device that the store does not have.
  func forEachDeviceState(_ part: ListingPart, after: String?, _ body: (DeviceState) throws -> Bool) throws {
    var count = 0
    func show(_ stored: StoredDevice) throws {
      if try stored.state.withUnsafeBytes({ try body(DeviceState(decoding: $0)) }) { count += 1 }
    }
    if let device = part.device {
      if let stored = try self.device(NamedDevice.find(device, in: self)) { try show(stored) }
      return
    }
    try forEachDevice(after: after.map { try NamedDevice.find($0, in: self) }) { stored in
      try show(stored)
      return part.limit.map { count < $0 } ?? true
    }
  }
}
