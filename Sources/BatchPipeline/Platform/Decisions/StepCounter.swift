package import BatchFoundation
package import BatchReport

/// The steps of devices with events still to come, so that a device counts once however many stretches or slices its
/// records take, and whether or not some of its events come from a rewind.
///
/// It has the devices of the stretch or, of a bucket split into slices, those of the bucket.
package struct StepCounter: Sendable {
  private struct Device: Sendable {
    var all = CampaignSteps()
    var campaigns = NameTable<CampaignSteps>(atMost: Activity.campaignLimit)
  }

  private var devices: [ByteText: Device] = [:]

  package init() {}

  /// - Parameter campaign: nil for an event without a campaign.
  package mutating func count(_ step: CampaignStep, of device: Text, _ campaign: Text?) {
    var steps = CampaignSteps()
    steps[step].events = 1
    change(ByteText(device.description)) { device in
      device.all += steps
      if let campaign { device.campaigns.add(steps, to: ByteText(campaign.description)) }
    }
  }

  static func += (total: inout StepCounter, part: StepCounter) {
    for (name, steps) in part.devices {
      total.change(name) { device in
        device.all += steps.all
        device.campaigns += steps.campaigns
      }
    }
  }

  static func -= (total: inout StepCounter, part: StepCounter) {
    for (name, steps) in part.devices {
      total.change(name) { device in
        device.all -= steps.all
        device.campaigns -= steps.campaigns
      }
    }
  }

  /// Returns the steps and starts again.
  mutating func taken() -> StepCounter {
    defer { self = StepCounter() }
    return self
  }

  /// Adds all devices to the tally; none of them has further events in this run.
  mutating func close(into tally: inout DecisionTally) {
    for device in devices.values {
      tally.people.steps += device.all.ofOneDevice
      for (name, steps) in device.campaigns.named { tally.activity.campaign(name) { $0.add(steps.ofOneDevice) } }
      tally.activity.addToOtherCampaigns(device.campaigns.rest.ofOneDevice)
    }
    devices.removeAll(keepingCapacity: true)
  }

  private mutating func change(_ device: ByteText, _ change: (inout Device) -> Void) {
    change(&devices[device, default: Device()])
  }
}
