import BatchFoundation
import BatchReport
import TestSupport
import Testing

@testable import BatchPipeline

@Suite struct StepCounterTests {
  private struct Step {
    var device: String
    var step: CampaignStep
    var campaign: String?
  }

  /// Counts the steps of one device at a time, without any table.
  private static func expected(_ steps: [Step]) -> (people: People, campaigns: [String: CampaignSteps]) {
    var people = People()
    var campaigns: [String: CampaignSteps] = [:]
    for own in Dictionary(grouping: steps, by: \.device).values {
      func one(_ steps: [Step]) -> CampaignSteps {
        var sum = CampaignSteps()
        for step in steps { sum[step.step].events += 1 }
        return sum.ofOneDevice
      }
      let all = one(own)
      people.steps += all
      people.withoutCampaign += one(own.filter { $0.campaign == nil })
      if all[.sessions].devices > all[.used].devices { people.sessionsWithoutUse += 1 }
      for (name, steps) in Dictionary(grouping: own.filter { $0.campaign != nil }, by: \.campaign) {
        campaigns[name ?? "", default: CampaignSteps()] += one(steps)
      }
    }
    return (people, campaigns)
  }

  private static func steps(devices: Int, campaigns: Int, _ random: inout SplitMix64) -> [Step] {
    (0..<devices).flatMap { device in
      (0..<Int.random(in: 0...8, using: &random)).map { _ in
        let step = [CampaignStep.received, .opened, .sessions, .goals, .used].randomElement(using: &random) ?? .used
        let named = step != .used && Bool.random(using: &random)
        return Step(
          device: "device-\(device)", step: step,
          campaign: named ? "campaign-\(Int.random(in: 0..<campaigns, using: &random))" : nil)
      }
    }
  }

  private static func count(_ steps: some Sequence<Step>, with counter: inout StepCounter) {
    for step in steps {
      step.device.withText { counter.begin($0) }
      if let campaign = step.campaign {
        campaign.withText { counter.count(step.step, of: $0) }
      } else {
        counter.count(step.step)
      }
    }
  }

  private static func expectSame(_ steps: [Step], _ people: People, _ activity: Activity) {
    let expected = expected(steps)
    #expect(people == expected.people)
    let counted = activity.campaigns.named.map { ($0.name.string, $0.value.steps) }
    #expect(Dictionary(uniqueKeysWithValues: counted) == expected.campaigns)
  }

  @Test func eachDeviceCountsOnceForEachStep() {
    var random = SplitMix64(seed: 3)
    for round in 0..<20 {
      let steps = Self.steps(devices: 40, campaigns: round % 2 == 0 ? 3 : 600, &random)
      var counter = StepCounter()
      var activity = Activity()
      var people = People()
      // Devices are complete at each hand-over.
      for own in Dictionary(grouping: steps, by: \.device).sorted(by: { $0.key < $1.key }) {
        Self.count(own.value, with: &counter)
        if round % 3 == 0 { people += counter.close(into: &activity) }
      }
      people += counter.close(into: &activity)
      Self.expectSame(steps, people, activity)
    }
  }

  /// The stretch after the last slice ends the devices of all slices.
  @Test func aDeviceOfSeveralSlicesCountsOnce() {
    var random = SplitMix64(seed: 4)
    for devices in [2, 3, 30] {
      let steps = Self.steps(devices: devices, campaigns: 5, &random)
      var counter = StepCounter()
      counter.keepsDevices = true
      var slices: [[Step]] = [[], [], []]
      for step in steps { slices[Int.random(in: 0..<3, using: &random)].append(step) }
      for slice in slices.dropLast() { Self.count(slice, with: &counter) }
      counter.keepsDevices = false
      Self.count(slices[2], with: &counter)
      var activity = Activity()
      Self.expectSame(steps, counter.close(into: &activity), activity)
    }
  }

  @Test func aRewindOnlyCountsTheDifference() {
    var random = SplitMix64(seed: 5)
    let before = Self.steps(devices: 1, campaigns: 3, &random)
    let after = before + Self.steps(devices: 1, campaigns: 4, &random)
    let rest = Self.steps(devices: 3, campaigns: 4, &random)
    func taken(_ steps: [Step]) -> DeviceSteps {
      var counter = StepCounter()
      Self.count(steps, with: &counter)
      return counter.taken()
    }
    var difference = taken(after)
    difference -= taken(before)
    var counter = StepCounter()
    Self.count(rest.filter { $0.device == "device-1" }, with: &counter)
    "device-0".withText { counter.add(difference, to: $0) }
    Self.count(rest.filter { $0.device == "device-2" }, with: &counter)
    Self.count(rest.filter { $0.device == "device-0" }, with: &counter)
    var activity = Activity()
    let added = Array(after.dropFirst(before.count))
    let people = counter.close(into: &activity)
    Self.expectSame(rest + added, people, activity)
  }

  @Test func moreCampaignsThanAreKeptCountTogether() {
    let names = (0..<5 * Activity.campaignLimit).map { "campaign-\(10_000 + $0)" }
    let steps = (names + names.prefix(7)).map { Step(device: "device", step: .opened, campaign: $0) }
    var counter = StepCounter()
    Self.count([Step(device: "earlier", step: .opened, campaign: names[0])], with: &counter)
    Self.count(steps, with: &counter)
    var activity = Activity()
    let people = counter.close(into: &activity)
    #expect(people.steps[.opened] == (names.count + 8, 2))
    #expect(people.withoutCampaign == CampaignSteps())
    let campaigns = activity.campaigns
    #expect(campaigns.named.map(\.name.string) == Array(names.prefix(Activity.campaignLimit)))
    let opened = (campaigns.named.map(\.value) + [campaigns.rest]).map { $0.steps?[.opened] ?? (0, 0) }
    #expect(opened[0] == (3, 2))
    #expect(opened[1..<7].allSatisfy { $0 == (2, 1) })
    #expect(opened[Activity.campaignLimit] == (names.count - Activity.campaignLimit, 1))
  }
}
