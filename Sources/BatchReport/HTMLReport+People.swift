import BatchFoundation

extension Markup {
  private static let shownCampaigns = 20

  /// Adds the devices of the run and of earlier nights, and each campaign's devices by step.
  mutating func addPeople(_ report: RunReport) {
    guard let people = report.summary.people, people != People() else { return }
    line(#"<section class="long"><h2>People</h2>"#)
    let nights = report.peopleBefore ?? []
    let figures: [(words: String, count: (People) -> Int)] =
      [("devices with records", \.devices)]
      + people.inDevices.indices.map { place in (people.inDevices[place].words, { $0.inDevices[place].devices }) }
    let rows = figures.filter { figure in ([people] + nights).contains { figure.count($0) != 0 } }
    line(
      .table(
        "Devices of this run, not people: a person may use several, and a device may change hands", rows,
        [.text("", \.words), .figure("this run") { $0.count(people) }]
          + (nights.isEmpty ? [] : [.number(Self.beforeWords(nights.count)) { nights.median($0.count) }])))
    let (campaigns, rest) = report.activity.campaigns.ranked(atMost: Self.shownCampaigns, by: \.weight)
    let steps = campaigns.compactMap { campaign in
      campaign.value.steps.map { (name: campaign.name.string.clipped(toBytes: Chart.longestName), steps: $0) }
    }
    if !steps.isEmpty {
      var others = rest.steps.map { [(name: "all others (a device may count more than once)", steps: $0)] } ?? []
      if CampaignStep.allCases.contains(where: { people.withoutCampaign[$0] != (0, 0) }) {
        others.append((name: "no campaign", steps: people.withoutCampaign))
      }
      line(
        .table(
          "Campaigns: devices of each step, the share of devices from the previous step that also took it, and events",
          steps + others,
          [.text("campaign", \.name)]
            + CampaignStep.allCases.map { step in Column("\(step)", kind: "number") { $0.steps.words(of: step) } }))
      line(
        "<p class=\"soft\">A session counts when it is finished, for the campaign that was active at its end; a goal counts when it is completed.</p>"
      )
    }
    line("</section>")
  }

  private static func beforeWords(_ nights: Int) -> String {
    nights == 1 ? "the night before" : "median of the \(nights) nights before"
  }
}

extension CampaignSteps {
  /// Returns the devices of a step, the share of devices from the previous step that also took it, and its events.
  fileprivate func words(of step: CampaignStep) -> Markup {
    let reach = self[step]
    guard reach != (0, 0) else { return "-" }
    let before = CampaignStep.allCases.prefix { $0 != step }.last.map { self[$0].devices } ?? 0
    // The other devices of the step took the previous one on an earlier night, or never.
    let percent = before > 0 ? (continued(step) * 100 + before / 2) / before : 0
    let share = before > 0 ? " (\(continued(step).grouped) of \(before.grouped), \(percent)%)" : ""
    return
      #"<span class="whole">\#(reach.devices.counted("device"))\#(share),</span> <span class="whole">\#(reach.events.countedOrFewer("event"))</span>"#
  }
}
