package import BatchFoundation

/// The steps of devices that may have further events. A device thus counts once, however many stretches or slices its
/// records span, and whether or not some of its events come from a rewind.
///
/// The counter holds the devices of one stretch or, if a bucket is split into slices, of the whole bucket.
package struct StepCounter: Sendable {
  private struct Device: Sendable {
    var all = CampaignSteps()
    /// Nil if no event has a campaign.
    var campaigns: NameTable<CampaignSteps>?

    mutating func changeCampaigns(_ change: (inout NameTable<CampaignSteps>) -> Void) {
      var table = campaigns.take() ?? NameTable(atMost: Activity.campaignLimit)
      change(&table)
      campaigns = table
    }

    static func += (total: inout Device, part: Device) {
      total.all += part.all
      if let campaigns = part.campaigns { total.changeCampaigns { $0 += campaigns } }
    }

    static func -= (total: inout Device, part: Device) {
      total.all -= part.all
      if let campaigns = part.campaigns { total.changeCampaigns { $0 -= campaigns } }
    }
  }

  private var devices: [ByteText: Device] = [:]
  /// The device of the last event, which usually has the next event too; it is not in ``devices``.
  private var last: (bytes: [UInt8], name: ByteText, device: Device)?

  package init() {}

  /// - Parameter campaign: nil for an event without a campaign.
  package mutating func count(_ step: CampaignStep, _ times: Int = 1, of device: Text, _ campaign: Text? = nil) {
    if !(last?.bytes.withText { $0 == device } ?? false) {
      putLastBack()
      let name = ByteText(device.description)
      last = unsafe (Array(device.bytes), name, devices.removeValue(forKey: name) ?? Device())
    }
    last?.device.all[step].events += times
    guard let campaign else { return }
    var steps = CampaignSteps()
    steps[step].events = 1
    last?.device.changeCampaigns { $0.add(steps, to: ByteText(campaign.description)) }
  }

  package static func += (total: inout StepCounter, part: StepCounter) {
    for (name, steps) in part.named { total.change(name) { $0 += steps } }
  }

  package static func -= (total: inout StepCounter, part: StepCounter) {
    for (name, steps) in part.named { total.change(name) { $0 -= steps } }
  }

  /// Returns the steps and empties the counter.
  package mutating func taken() -> StepCounter {
    defer { self = StepCounter() }
    return self
  }

  /// Adds the campaigns of all devices to the activity; none of the devices has further events in this run.
  ///
  /// - Returns: the steps of the devices.
  package mutating func close(into activity: inout Activity) -> People {
    var people = People()
    putLastBack()
    for device in devices.values {
      let all = device.all.ofOneDevice
      people.steps += all
      if all[.sessions].devices > all[.used].devices { people.sessionsWithoutUse += 1 }
      var withoutCampaign = device.all
      if let campaigns = device.campaigns {
        for (name, steps) in campaigns.named {
          activity.campaign(name) { $0.add(steps.ofOneDevice) }
          withoutCampaign -= steps
        }
        activity.addToOtherCampaigns(campaigns.rest.ofOneDevice)
        withoutCampaign -= campaigns.rest
      }
      people.withoutCampaign += withoutCampaign.ofOneDevice
    }
    devices.removeAll(keepingCapacity: true)
    return people
  }

  private var named: [ByteText: Device] {
    var counter = self
    counter.putLastBack()
    return counter.devices
  }

  private mutating func putLastBack() {
    if let last { devices[last.name] = last.device }
    last = nil
  }

  private mutating func change(_ device: ByteText, _ change: (inout Device) -> Void) {
    putLastBack()
    change(&devices[device, default: Device()])
  }
}
