/// A step that a device takes with a campaign; the cases are in the usual order.
package enum CampaignStep: Int, CaseIterable, Sendable {
  /// Received a notification.
  case received
  /// Opened a notification.
  case opened
  /// Finished a session; the campaign was active at its end.
  case sessions
  /// Completed a goal.
  case goals
  /// Used the app, whatever the campaign. The number is that of the first free place in ``CampaignSteps``.
  case used = 6

  package static let allCases: [CampaignStep] = [.received, .opened, .sessions, .goals]
}

/// For each step, the number of its events, of devices with at least one, and of devices that also took the previous
/// step.
package struct CampaignSteps: Tallied {
  /// The numbers of events and devices of each step, followed by ``continued(_:)`` of each. A vector needs no allocation.
  private var counts = SIMD16<Int>()
  private static let continued = 2 * CampaignStep.allCases.count

  package init() {}

  package subscript(step: CampaignStep) -> (events: Int, devices: Int) {
    get { (counts[2 * step.rawValue], counts[2 * step.rawValue + 1]) }
    set { (counts[2 * step.rawValue], counts[2 * step.rawValue + 1]) = newValue }
  }

  /// Returns the number of devices that took both the step and the previous one; for the first step, of all devices
  /// that took it.
  package func continued(_ step: CampaignStep) -> Int { counts[Self.continued + step.rawValue] }

  /// The steps of one device, which counts for each step with more events than a rewind withdrew.
  package var ofOneDevice: CampaignSteps {
    var steps = self
    var hadBefore = 1
    for step in CampaignStep.allCases {
      let has = self[step].events > 0 ? 1 : 0
      steps[step].devices = has
      steps.counts[Self.continued + step.rawValue] = has & hadBefore
      hadBefore = has
    }
    steps[.used].devices = self[.used].events > 0 ? 1 : 0
    return steps
  }

  /// Compares place by place, because the synthesized comparison is not specialized for the vector and takes longer.
  package static func == (one: CampaignSteps, other: CampaignSteps) -> Bool {
    one.counts.indices.allSatisfy { one.counts[$0] == other.counts[$0] }
  }

  package static func += (total: inout CampaignSteps, part: CampaignSteps) {
    total.counts &+= part.counts
  }

  package static func -= (total: inout CampaignSteps, part: CampaignSteps) {
    total.counts &-= part.counts
  }
}

/// The devices of a run.
package struct People: Sendable, Equatable, Codable {
  /// The number of devices with records but without a state in the store, and of those with a state.
  package var newDevices = 0
  package var returningDevices = 0
  /// All steps, with or without a campaign; the events of ``CampaignStep/used`` are records.
  package var steps = CampaignSteps()
  package var withoutCampaign = CampaignSteps()
  /// The number of devices that finished a session without using the app in this run, such as those that only received
  /// a notification.
  package var sessionsWithoutUse = 0

  package init() {}

  package var devices: Int { newDevices + returningDevices }

  package static func += (total: inout People, part: People) {
    total.newDevices += part.newDevices
    total.returningDevices += part.returningDevices
    total.steps += part.steps
    total.withoutCampaign += part.withoutCampaign
    total.sessionsWithoutUse += part.sessionsWithoutUse
  }

  /// The figures in devices, with their names in metrics and JSON.
  var inDevices: [(name: String, words: String, devices: Int)] {
    [
      ("new", "new devices", newDevices), ("returning", "returning devices", returningDevices),
      ("used", "used the app", steps[.used].devices),
      ("received", "received a notification", steps[.received].devices),
      ("opened", "opened a notification", steps[.opened].devices),
      ("sessions", "finished a session", steps[.sessions].devices),
      ("sessionsWithoutUse", "of these, did not use the app", sessionsWithoutUse),
      ("goals", "completed a goal", steps[.goals].devices),
    ]
  }
}

extension [People] {
  /// Returns the median of a figure (for an even number of nights, the mean of the middle two); 0 without nights.
  func median(_ figure: (People) -> Int) -> String {
    guard !isEmpty else { return "0" }
    let sorted = map(figure).sorted()
    let sum = sorted[(count - 1) / 2] + sorted[count / 2]
    return "\(sum / 2)\(sum % 2 == 0 ? "" : ".5")"
  }
}
