package import BatchConfiguration
package import BatchFoundation
package import BatchPipeline
import EngageRules

extension EngagePlatform {
  package func outline(_ event: JSONNode, _ settings: Settings, into outline: inout DeviceOutline) {
    guard let code = event["eventTypeCode"]?.string else { return }
    let time = event["eventTimestamp"]?.string
    outline.events[code, default: 0] += 1
    let names = settings.attributeNames
    func value(_ name: String) -> String? {
      event["attributes"]?.array?.last { $0["name"]?.string == name }?["value"]?.string
    }
    let kinds = settings.general.eventCodes.kinds(of: code)
    if kinds.contains(.sessionStarted) {
      // A link that is opened in a session reports a start without beginning another one.
      if outline.sessions.last.map({ $0.end != nil }) ?? true { outline.sessions.append(.init(start: time)) }
    } else if kinds.contains(.sessionEnded) {
      if outline.sessions.last.map({ $0.end != nil }) ?? true { outline.sessions.append(.init()) }
      let last = outline.sessions.count - 1
      outline.sessions[last].end = time
      let isInMinutes = settings.general.eventCodes[.sessionEnded].fields.contains(.activeMinutes)
      outline.sessions[last].seconds = value(names[isInMinutes ? .activeMinutes : .activeSeconds]).flatMap {
        Int64($0).map { isInMinutes ? $0 * 60 : $0 }
      }
    }
    if let campaign = value(names[.campaign]), !campaign.isEmpty {
      outline.campaigns[campaign, default: 0] += 1
    }
  }

  package func coverage(
    of run: RunContext, _ figures: [String: Int], _ details: (any PlatformDetails)?
  ) -> [RuleCoverage] {
    func rule(_ name: String, _ figure: EngageFigure) -> RuleCoverage { RuleCoverage(.rule, name, figures[figure]) }
    var rules = [
      rule("a session begins", .sessionsStarted), rule("a session ends", .sessionsEnded),
      rule("a campaign is set", .campaignsSet), rule("a campaign expires", .campaignsExpired),
    ]
    if run.job.identity {
      rules.append(rule("an identity is checked", .identityChecks))
    } else {
      rules.append(rule("events wait for a mobile user id", .waitingForUserId))
    }
    guard let details = details as? EngageDetails, let file = details.links.file else { return rules }
    return rules
      + file.routes.indices.map { RuleCoverage(.route, file.routes[$0].key, details.routes[$0, default: 0]) }
  }
}
