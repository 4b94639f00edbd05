import BatchFoundation
import BatchPipeline
import BatchReport
import EngageRules

/// Counts the events with a campaign by its name and their time, before they enter the tally.
struct CampaignCounter: ~Copyable {
  /// The attribute that names an event's campaign; its memory must outlive this counter.
  private let attribute: Text
  private var campaigns = NumberedNames()
  private var times: [TimeCounts] = []

  init(attribute: Text) { self.attribute = attribute }

  mutating func count(_ event: Event) {
    guard let campaign = campaign(of: event) else { return }
    let (number, isNew) = campaigns.number(of: campaign)
    if isNew { times.append(TimeCounts()) }
    times[number].add(event.timestamp)
  }

  /// Returns the campaign's name; nil if the event carries none.
  private func campaign(of event: Event) -> Text? {
    for place in unsafe event.attributes.indices {
      let attribute = unsafe event.attributes[place]
      if attribute.name == self.attribute { return attribute.value.isEmpty ? nil : attribute.value }
    }
    return nil
  }

  /// Moves the counts into the tally at the end, and whenever there are too many campaigns to keep.
  mutating func takeCounts(into tally: inout DecisionTally, isLast: Bool) {
    guard isLast || campaigns.count > NumberedNames.limit else { return }
    for (number, times) in times.enumerated() { tally.activity.campaign(campaigns[number]) { $0.events += times } }
    campaigns.removeAll()
    times.removeAll(keepingCapacity: true)
  }
}
