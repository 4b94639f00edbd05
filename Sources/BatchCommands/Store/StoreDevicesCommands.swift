import ArgumentParser
import BatchFoundation
import BatchReport
import BatchStore

struct StoreSessionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "List the devices of a store with their sessions.",
    discussion: """
      --from and --to select devices by the time of their last record.
      """)

  @OptionGroup var options: StoreOptions<JobName>
  @OptionGroup var personal: PersonalDataOption

  @Option(help: "Only devices with this session state: none, active or paused.")
  var status: SessionRow.Status?

  @OptionGroup var part: DeviceListingPart

  func run() throws {
    try options.reading { store, platform in
      let devices = InstalledPlatforms.of(platform)
      let policy = try personal.policy(for: store)
      var listing = Listing(options.answer.format, columns: devices.sessionColumns)
      try part.forEachDevice(of: store, personal) { device in
        let row = try devices.session(of: device, policy)
        guard part.span.contains(row.lastSeen), status.map({ $0 == row.status }) ?? true else { return false }
        listing.add(row.cells)
        return true
      }
      listing.end()
    }
  }
}

struct StoreCampaignsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "campaigns",
    abstract: "List the active and expired campaigns of a store's devices, with their expiry.",
    discussion: """
      --from and --to select devices by the expiry of their campaign.
      """)

  enum Status: String, ExpressibleByArgument, CaseIterable { case active, expired }

  @OptionGroup var options: StoreOptions<JobName>
  @OptionGroup var personal: PersonalDataOption

  @Option(
    help: "The time at which to determine whether campaigns are active or expired. (default: now)",
    transform: Instant.argument)
  var asOf: Instant?

  @Option(help: "Only devices with this campaign, by name.")
  var campaign: String?

  @Option(help: "Only campaigns in this state: active or expired.")
  var status: Status?

  @OptionGroup var part: DeviceListingPart

  func run() throws {
    let instant = asOf ?? .now
    try options.reading { store, platform in
      let devices = InstalledPlatforms.of(platform)
      let policy = try personal.policy(for: store)
      var listing = Listing(options.answer.format, columns: ["device", "campaign", "expiresAt", "active"])
      try part.forEachDevice(of: store, personal) { device in
        guard let last = try devices.campaign(of: device), part.span.contains(last.expiresAt) else { return false }
        let isActive = instant <= last.expiresAt
        guard status.map({ ($0 == .active) == isActive }) ?? true, campaign?.isIdentical(to: last.name) ?? true else {
          return false
        }
        listing.add([
          .text(policy.id(String(decoding: device.device, as: UTF8.self)).text), .text(last.name),
          .text(last.expiresAt.rfc3339), .flag(isActive),
        ])
        return true
      }
      listing.end()
      if let note = devices.campaignNote { Streams.note("note: \(note)") }
    }
  }
}

extension SessionRow.Status: ExpressibleByArgument {}

/// The devices that a listing shows.
struct DeviceListingPart: ParsableArguments {
  @OptionGroup var span: ListingPart

  @Option(help: "Only devices after this one, such as the last one of a previous listing with --limit.")
  var after: String?

  /// Passes devices to `body`, sorted by the bytes of their ids, until the number of true results reaches the
  /// limit.
  ///
  /// - Throws: ``UnknownName`` for a device that the store does not have.
  func forEachDevice(
    of store: EventStore, _ personal: PersonalDataOption, _ body: (StoredDevice) throws -> Bool
  ) throws {
    var count = 0
    if let devices = try span.devices(in: store, personal) {
      for stored in try devices.compactMap(store.timelines.device) where try body(stored) {
        count += 1
        if count == span.limit { return }
      }
      return
    }
    try store.timelines.forEachDevice(after: after.map { try NamedDevice.find($0, in: store, personal) }) { stored in
      if try body(stored) { count += 1 }
      return span.limit.map { count < $0 } ?? true
    }
  }
}

struct SessionRow {
  enum Status: String, CaseIterable { case none, active, paused }

  var status: Status
  var lastSeen: Instant?
  var cells: [JSONNode]
}

struct DeviceCampaign {
  var name: String
  /// The last instant at which the campaign is active.
  var expiresAt: Instant
}
