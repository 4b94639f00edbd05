/// What a device did with a campaign, in the order of the steps.
package enum CampaignStep: Int, CaseIterable, Sendable {
  /// Received a notification.
  case received
  /// Opened a notification.
  case opened
  /// Finished a session during which the campaign was active at the end.
  case sessions
  /// Completed a goal.
  case goals
}

/// The events of each step, and the devices that have at least one.
package struct CampaignSteps: Tallied {
  package struct Reach: Tallied {
    package var events = 0
    package var devices = 0

    package init() {}

    package static func += (total: inout Reach, part: Reach) {
      total.events += part.events
      total.devices += part.devices
    }

    package static func -= (total: inout Reach, part: Reach) {
      total.events -= part.events
      total.devices -= part.devices
    }
  }

  /// In the order of the steps.
  private var reaches = CampaignStep.allCases.map { _ in Reach() }

  package init() {}

  package subscript(step: CampaignStep) -> Reach {
    get { reaches[step.rawValue] }
    set { reaches[step.rawValue] = newValue }
  }

  /// The steps of one device: it counts for each step of which it has more events than a rewind withdrew.
  package var ofOneDevice: CampaignSteps {
    var steps = self
    for step in CampaignStep.allCases { steps[step].devices = self[step].events > 0 ? 1 : 0 }
    return steps
  }

  package static func += (total: inout CampaignSteps, part: CampaignSteps) {
    for step in CampaignStep.allCases { total[step] += part[step] }
  }

  package static func -= (total: inout CampaignSteps, part: CampaignSteps) {
    for step in CampaignStep.allCases { total[step] -= part[step] }
  }
}

/// The devices of a run.
package struct People: Sendable, Equatable, Codable {
  /// The devices with records that had no state in the store, and those that had one.
  package var newDevices = 0
  package var returningDevices = 0
  /// All steps, with or without a campaign.
  package var steps = CampaignSteps()

  package init() {}

  package var devices: Int { newDevices + returningDevices }

  package static func += (total: inout People, part: People) {
    total.newDevices += part.newDevices
    total.returningDevices += part.returningDevices
    total.steps += part.steps
  }

  /// The figures in devices, with their names in metrics and JSON.
  var inDevices: [(name: String, words: String, devices: Int)] {
    [
      ("new", "new devices", newDevices), ("returning", "returning devices", returningDevices),
      ("received", "received a notification", steps[.received].devices),
      ("opened", "opened a notification", steps[.opened].devices),
      ("sessions", "finished a session", steps[.sessions].devices),
      ("goals", "completed a goal", steps[.goals].devices),
    ]
  }
}

extension [Int] {
  /// The median, which is the mean of the two in the middle of an even number; nil if empty.
  var median: Double? {
    guard !isEmpty else { return nil }
    let sorted = sorted()
    return Double(sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}
