import BatchFoundation
import BatchReport
import BatchStore

/// The devices of a store as rows of `store sessions` and `store campaigns`.
protocol DeviceRows {
  var sessionColumns: [String] { get }

  func session(of device: StoredDevice, _ personal: PersonalData) throws -> SessionRow

  var campaignColumns: [String] { get }

  /// Nil for a device that never had a campaign.
  func campaign(of device: StoredDevice, at instant: Instant, _ personal: PersonalData) throws -> CampaignRow?

  /// Where campaigns show that belong to no device; nil where they belong to devices.
  var campaignNote: String? { get }
}

/// Where a device's session stands.
struct SessionRow {
  enum Status: String, CaseIterable { case none, active, paused }

  var status: Status
  var lastSeen: Instant?
  /// One for each column.
  var cells: [JSONNode]
}

/// A device's campaign.
struct CampaignRow {
  var name: ByteText
  var expiresAt: Instant
  var isActive: Bool
  /// One for each column.
  var cells: [JSONNode]
}
