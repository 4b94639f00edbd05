package import BatchFoundation
package import BatchReport

/// The steps of one device, or the difference that a rewind makes to them.
package struct DeviceSteps: Sendable {
  fileprivate var all = CampaignSteps()
  /// Nil if no event has a campaign.
  fileprivate var campaigns: NameTable<CampaignSteps>?

  fileprivate mutating func changeCampaigns(_ change: (inout NameTable<CampaignSteps>) -> Void) {
    var table = campaigns.take() ?? NameTable(atMost: Activity.campaignLimit)
    change(&table)
    campaigns = table
  }

  package static func += (total: inout DeviceSteps, part: DeviceSteps) {
    total.all += part.all
    if let campaigns = part.campaigns { total.changeCampaigns { $0 += campaigns } }
  }

  package static func -= (total: inout DeviceSteps, part: DeviceSteps) {
    total.all -= part.all
    if let campaigns = part.campaigns { total.changeCampaigns { $0 -= campaigns } }
  }
}

/// Counts the steps of devices, one device after another. A device counts once, however many stretches or slices its
/// records span, and whether or not some of its events come from a rewind.
package struct StepCounter: ~Copyable {
  /// Whether devices may have further events after those of other devices, because their bucket is split into slices.
  package var keepsDevices = false {
    // The current device may be one of those.
    didSet { if oldValue { keepDevice() } }
  }

  private var people = People()
  private var campaigns = NumberedNames()
  /// The steps of complete devices, by the number of the campaign.
  private var totals: [CampaignSteps] = []
  /// The earlier totals, if there were too many campaigns to keep; otherwise nil.
  private var closed: Activity?

  /// The id of the current device; nil if there is none.
  private var device: [UInt8]?
  private var all = CampaignSteps()
  private var own: [(campaign: Int, steps: CampaignSteps)] = []
  /// The index of each campaign in ``own``, by its number; nil if the current device has no steps with it.
  private var places: [Int?] = []

  /// The earlier steps of devices, if they were kept, and the changes that rewinds made to them.
  private var kept: [[UInt8]: DeviceSteps] = [:]

  /// Starts or continues a device.
  package mutating func begin(_ device: Text) {
    if let current = self.device, current.withText({ $0 == device }) { return }
    endDevice()
    var name = self.device.take() ?? []
    name.removeAll(keepingCapacity: true)
    unsafe name.append(contentsOf: device.bytes)
    self.device = name
  }

  /// Counts steps of the current device.
  ///
  /// - Parameter campaign: nil for an event without a campaign.
  package mutating func count(_ step: CampaignStep, of campaign: Text? = nil, times: Int = 1) {
    all[step].events += times
    guard let campaign else { return }
    let number = number(of: campaign)
    let place = places[number] ?? own.count
    if place == own.count {
      places[number] = place
      own.append((number, CampaignSteps()))
    }
    own[place].steps[step].events += times
    if own.count > 2 * Activity.campaignLimit { keepDevice() }
  }

  private mutating func number(of campaign: Text) -> Int {
    let (number, isNew) = NameTable<CampaignSteps>.withCut(campaign) { campaigns.number(of: $0) }
    if isNew {
      totals.append(CampaignSteps())
      places.append(nil)
    }
    return number
  }

  /// Adds the difference that a rewind made to a device.
  package mutating func add(_ steps: DeviceSteps, to device: Text) {
    unsafe kept[Array(device.bytes), default: DeviceSteps()] += steps
  }

  /// Returns the steps of the current device, which must be the only one, and removes them.
  package mutating func taken() -> DeviceSteps {
    keepDevice()
    defer { kept = [:] }
    return kept.first?.value ?? DeviceSteps()
  }

  /// Adds the campaigns of all devices to the activity; none of the devices has further events in this run.
  ///
  /// - Returns: the steps of the devices.
  package mutating func close(into activity: inout Activity) -> People {
    endDevice()
    device = nil
    for steps in kept.values { close(steps, into: &activity) }
    kept.removeAll(keepingCapacity: true)
    addTotals(to: &activity)
    if campaigns.count > NumberedNames.limit { forgetCampaigns() }
    if let closed { activity += closed }
    closed = nil
    defer { people = People() }
    return people
  }

  // MARK: - Devices

  private mutating func endDevice() {
    guard let device else { return }
    if keepsDevices || own.count > Activity.campaignLimit || !kept.isEmpty && kept[device] != nil {
      return keepDevice()
    }
    var withoutCampaign = all
    for (campaign, steps) in own {
      totals[campaign] += steps.ofOneDevice
      withoutCampaign -= steps
    }
    count(all, withoutCampaign)
    removeSteps()
  }

  /// Moves the steps of the current device to ``kept``.
  private mutating func keepDevice() {
    guard let device else { return }
    var steps = DeviceSteps()
    steps.all = all
    if !own.isEmpty {
      steps.changeCampaigns { table in
        for (campaign, steps) in own { table.add(steps, to: campaigns[campaign]) }
      }
    }
    kept[device, default: DeviceSteps()] += steps
    removeSteps()
    guard campaigns.count > 2 * Activity.campaignLimit else { return }
    var closed = closed ?? Activity()
    addTotals(to: &closed)
    self.closed = closed
    forgetCampaigns()
  }

  private mutating func removeSteps() {
    for (campaign, _) in own { places[campaign] = nil }
    own.removeAll(keepingCapacity: true)
    all = CampaignSteps()
  }

  private mutating func close(_ device: DeviceSteps, into activity: inout Activity) {
    var withoutCampaign = device.all
    if let campaigns = device.campaigns {
      for (name, steps) in campaigns.named {
        activity.campaign(name) { $0.add(steps.ofOneDevice) }
        withoutCampaign -= steps
      }
      activity.addToOtherCampaigns(campaigns.rest.ofOneDevice)
      withoutCampaign -= campaigns.rest
    }
    count(device.all, withoutCampaign)
  }

  private mutating func count(_ all: CampaignSteps, _ withoutCampaign: CampaignSteps) {
    let steps = all.ofOneDevice
    people.steps += steps
    if steps[.sessions].devices > steps[.used].devices { people.sessionsWithoutUse += 1 }
    people.withoutCampaign += withoutCampaign == all ? steps : withoutCampaign.ofOneDevice
  }

  private mutating func addTotals(to activity: inout Activity) {
    // By index, because a loop over the array would copy it.
    for number in totals.indices where totals[number] != CampaignSteps() {
      activity.campaign(campaigns[number]) { $0.add(totals[number]) }
      totals[number] = CampaignSteps()
    }
  }

  /// Call only when there are no totals and the current device has no steps with a campaign.
  private mutating func forgetCampaigns() {
    campaigns.removeAll()
    totals.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }
}
