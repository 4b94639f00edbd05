import BatchFoundation
import BatchReport
import BatchStore

/// The rows of a store's devices in `store sessions` and `store campaigns`.
protocol DeviceRows {
  var sessionColumns: [String] { get }

  func session(of device: StoredDevice, _ personal: PersonalData) throws -> SessionRow

  var campaignColumns: [String] { get }

  /// Returns nil for a device that never had a campaign.
  func campaign(of device: StoredDevice, at instant: Instant, _ personal: PersonalData) throws -> CampaignRow?

  /// The place to find campaigns that belong to no device; nil if they belong to devices.
  var campaignNote: String? { get }
}

/// The state of a device's session.
struct SessionRow {
  enum Status: String, CaseIterable { case none, active, paused }

  var status: Status
  var lastSeen: Instant?
  var cells: [JSONNode]
}

struct CampaignRow {
  var name: ByteText
  var expiresAt: Instant
  var isActive: Bool
  var cells: [JSONNode]
}
