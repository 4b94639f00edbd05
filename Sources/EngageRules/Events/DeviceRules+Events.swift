import BatchFoundation

/// Converts records to events (reference events 1.4 to 1.7).
extension DeviceRules {
  /// Drafts the event for a record other than a lifecycle record, link or raw event. The caller's values take
  /// precedence.
  mutating func draftEvent(of record: Record) {
    guard let kind = record.type.eventKind else { return draftEvent(record.subject ?? .empty, record) }
    draftEvent(settings.codes[kind].code, record)
    let campaign = state.activeCampaign(at: record.timestamp)
    addFields(of: kind) { $0.value(of: $1, record, campaign: campaign) }
  }

  /// Adds the automatic attributes for the event's kind; `value` returns nil if the event does not have the field.
  @inline(__always)
  mutating func addFields(of kind: EventKind, _ value: (inout DeviceRules, AutomaticField) -> Text?) {
    let fields = settings.codes[kind].fields
    for place in 0..<fields.count {
      let field = fields[place]
      guard let value = value(&self, field), settings.codes.keepsEmpty || !value.isEmpty else { continue }
      draft.add(settings.fields[field], value)
    }
  }

  @inline(__always)
  private mutating func value(of field: AutomaticField, _ record: Record, campaign: Text) -> Text? {
    switch field {
    case .campaign: return campaign
    case .lastCampaign: return state.lastCampaign
    case .eventName, .goalName: return record.subject ?? .empty
    case .displayedMessage:
      return record.type.isLocalNotification
        ? record.body?["alertBody"]?.string ?? .empty : PayloadSearch.displayedMessage(in: record.body)
    case .callToAction:
      if record.type.isLocalNotification { return record.body?["alertAction"]?.string ?? .empty }
      return record.body.flatMap { PayloadSearch.text(settings.parameters.callToAction, in: $0) } ?? .empty
    case .tags:
      guard !record.type.isLocalNotification, let tags = record.body?[settings.fields[.tags]], !tags.isNull else {
        return nil
      }
      if let text = AttributeText.tags(tags, in: arena) { return text }
      warn(.nestedAttribute, "the tags of a payload are an object; dropped")
      return nil
    case .channel: return record.type.isLocalNotification ? "local" : record.type.isNotification ? "push" : nil
    case .actionType: return action(of: record, "type")
    case .actionValue: return action(of: record, "value")
    case .mobileUserId, .channelId, .appKey: return deviceValue(of: field, userId: state.core[.primaryUserId])
    case .activeSeconds, .activeMinutes, .locationAddress, .locationName, .latitude, .longitude: return nil
    }
  }

  /// Returns a member of the action taken by opening a notification: its type or value.
  private func action(of record: Record, _ member: Text) -> Text? {
    guard let action = record.body?["notification-action"], action.kind == .object else { return nil }
    return action[member].flatMap { AttributeText.scalar($0, in: arena) }
  }

  /// Returns a device value from the records; nil if none named it or if the field is not a device value.
  func deviceValue(of field: AutomaticField, userId: Text) -> Text? {
    let value: Text =
      switch field {
      case .mobileUserId: userId
      case .channelId: state.channelId
      case .appKey: state.appKey
      default: .empty
      }
    return value.isEmpty ? nil : value
  }

  @inline(__always)
  private mutating func draftEvent(_ code: Text, _ record: Record) {
    startDraft(code, at: record.timestamp, core: state.core)
    forEachParameter(of: record) { $0.draft.set($1, $2) }
  }

  /// Calls `body` with the caller's attributes: scalars as text, Tags joined; other values are dropped (reference
  /// events 1.5).
  @inline(__always)
  private mutating func forEachParameter(of record: Record, _ body: (inout DeviceRules, Text, Text) -> Void) {
    guard let params = record.params else { return }
    let tags = settings.fields[.tags]
    for member in params.members {
      if let text = Self.attributeText(member.key, member.value, tags: tags, in: arena) {
        body(&self, member.key, text)
      } else {
        warn(ofNested: member.key, in: "params")
      }
    }
  }

  /// Returns the text of a scalar, or of tags, which may also be an array; nil for any other value. Static, because an
  /// instance method would copy the rules for each call.
  @inline(__always)
  static func attributeText(_ name: Text, _ value: JSONView, tags: Text, in arena: Arena) -> Text? {
    if let text = AttributeText.scalar(value, in: arena) { return text }
    return name == tags ? AttributeText.tags(value, in: arena) : nil
  }

  /// Stores the campaign from a push or an opened local notification before its event is built (reference events 2.2).
  mutating func storeCampaign(of record: Record) {
    guard let payload = campaignPayload(of: record) else { return }
    let reading = read(campaign: .payload(payload), at: record.timestamp)
    store(reading, at: record.timestamp)
    guard !warnOfNearParameters(payload, isRead: !reading.namesNone), reading.namesNone else { return }
    let search = misplaced
    warnOfMisplaced(
      record.body.flatMap { search.place(in: $0) } ?? record.notification.flatMap { search.place(in: $0) }, "payload")
  }

  private var misplaced: MisplacedParameter {
    let names = settings.parameters
    return MisplacedParameter(
      names: [
        names.currentCampaign, names.campaignExpiresAt, names.campaignValidFor, names.campaignEndTimeStamp,
        names.expiresAtInLinks, names.validForInLinks,
      ], arena: arena)
  }

  private mutating func warnOfMisplaced(_ place: String?, _ what: String) {
    guard let place else { return }
    warn(.nearParameter, "the \(what) sets no campaign, but its '\(place)' may be intended to set one")
  }

  /// Returns the campaign that a link names, and warns if a name is misplaced.
  private mutating func campaign(of link: LinkReading, _ record: Record) -> CampaignReading {
    let reading = read(campaign: .link(link.parameters), at: record.timestamp)
    if reading.namesNone {
      warnOfMisplaced(misplaced.place(inLink: record.subject ?? .empty, link.parameters), "link")
    }
    return reading
  }

  /// Returns the campaign that a record itself names; nil if it names none that counts.
  mutating func ownCampaign(of record: Record) -> Campaign? {
    campaignPayload(of: record).flatMap { read(campaign: .payload($0), at: record.timestamp).campaign }
  }

  private func read(campaign source: CampaignSource, at instant: Instant) -> CampaignReading {
    CampaignReading(source, at: instant, settings.parameters, defaultLife: settings.defaultCampaignLife)
  }

  /// Returns the payload that may name a campaign; nil for a record that sets none (reference decisions 41).
  private func campaignPayload(of record: Record) -> JSONView? {
    switch record.type {
    case .pushReceived, .notificationOpened: return record.body
    case .localNotificationOpened:
      guard let payload = record.body, let notification = record.notification,
        PayloadSearch.text(settings.parameters.currentCampaign, in: payload) == nil
      else { return record.body }
      return notification
    default: return nil
    }
  }

  /// Warns about keys that resemble a parameter's name, because a push whose campaign key is misspelled sets no
  /// campaign. Returns whether one of them resembles a campaign parameter.
  ///
  /// - Parameter isRead: whether the payload has campaign parameters; they may be in an object with such a key.
  private mutating func warnOfNearParameters(_ payload: JSONView, isRead: Bool) -> Bool {
    let names = settings.parameters
    var reported = false
    for (key, value) in payload.members {
      if value.kind == .object {
        let isInside = warnOfNearParameters(value, isRead: isRead)
        reported = reported || isInside
        if isInside || isRead { continue }
      }
      // For most keys, the length and the first letter are enough to rule out a match.
      guard 6...24 ~= key.count, key[0] | 0x20 == UInt8(ascii: "c") else { continue }
      let meant = spelling.nearest(
        key,
        among: [
          names.currentCampaign, names.campaignExpiresAt, names.campaignValidFor, names.campaignEndTimeStamp,
          names.callToAction,
        ])
      guard let meant else { continue }
      warn(.nearParameter, "payload key '\(key.inWarning)' is not read; \(NearestName.question(meant))")
      if meant != names.callToAction.description { reported = true }
    }
    return reported
  }

  mutating func store(_ reading: CampaignReading, at instant: Instant) {
    for warning in reading.warnings { warn(warning.kind, "\(warning.detail)") }
    guard let campaign = reading.campaign else { return }
    state.campaign = campaign
    output.campaignSets.append((campaign, instant))
    explanation?.note("campaign stored until \(campaign.expiresAt.rfc3339) (expiration from \(reading.expirySource))")
  }

  /// Counts the expiry of the stored campaign once, when it is first found to have expired (reference decisions 21).
  mutating func expireCampaign(at instant: Instant) {
    guard let campaign = state.campaign, !campaign.expiryWasSeen, !campaign.isActive(at: instant) else { return }
    state.campaign?.expiryWasSeen = true
    output.campaignExpiries.append(campaign)
    explanation?.note("campaign expired at \(campaign.expiresAt.rfc3339)")
  }

  // MARK: - Deep links

  /// Processes the opening of a link, which can start or resume a session and is always an event (reference events 3.3
  /// rule 4).
  mutating func openLink(_ record: Record) {
    let instant = record.timestamp
    let link = read(link: record)
    store(campaign(of: link, record), at: instant)
    let attributes = attributes(of: record, link)
    let isApart = settings.codes[.link].code != settings.codes[.sessionStarted].code
    if case .none = state.session {
      if state.hasLifecycle {
        start(at: instant, link: isApart ? nil : attributes)
      } else {
        startGapSession(at: instant, link: isApart ? nil : attributes)
      }
      guard isApart else { return }
    }
    if state.hasLifecycle, case .paused(let pause) = state.session {
      state.session = .active(segmentStart: instant, accumulated: pause.accumulated)
      explanation?.note("session resumed by the link")
    }
    guard isApart || !joinHeldStart(at: instant, link: attributes) else { return }
    draftStart(at: instant, link: attributes)
    if !isApart, let start = openStart, start.at == instant {
      // A session start by link is one event: it replaces the automatic start event at the same instant (reference
      // events 3.4).
      openStart = nil
      withdraw(start.emission)
      place(emission: start.emission)
      explanation?.note("the link's parameters are added to the automatic start event at the same instant")
    } else {
      emit()
      if !isApart { output.counts.linksInSessions += 1 }
    }
  }

  private mutating func joinHeldStart(at instant: Instant, link: [Attribute]) -> Bool {
    guard state.heldSessionEvents.join(link, at: instant, source: source) else { return false }
    explanation?.note("the link's parameters are added to the pending start event at the same instant")
    return true
  }

  /// Returns the attributes for a link's event: the call to action in the link's own query, the link's parameters, and
  /// the caller's params. Later ones take precedence (reference decisions 17 and 23).
  private mutating func attributes(of record: Record, _ link: LinkReading) -> [Attribute] {
    var given: [Attribute] = []
    if let action = link.query.last(where: { $0.name == settings.parameters.callToAction }) {
      given.append(Attribute(settings.fields[.callToAction], action.value))
    }
    given += link.parameters
    forEachParameter(of: record) { given.append(Attribute($1, $2)) }
    return given
  }

  /// Drafts the event for a late link, outside any session and with the link's own campaign. The caller restores
  /// `state.campaign`.
  mutating func draftLink(_ record: Record) {
    let link = read(link: record)
    state.campaign = campaign(of: link, record).campaign
    draftStart(at: record.timestamp, link: attributes(of: record, link))
  }

  /// Reads the record's URL: decodes its parameters, and merges those from the route and the query (reference
  /// deep-links 6).
  private mutating func read(link record: Record) -> LinkReading {
    let reading = links.read(record.subject ?? .empty, into: arena)
    for warning in reading.warnings { warn(.link, "\(warning.kind.rawValue)") }
    if case .matched(let route, _) = reading.outcome { output.routes.append(route) }
    explanation?.note(
      "\(words(for: reading.outcome)); the link carries \(reading.parameters.count.counted("parameter"))")
    return reading
  }

  private func words(for outcome: LinkReading.Outcome) -> String {
    let shortened =
      switch outcome.trimmed {
      case 0: ""
      case 1: ", after the link's last part was removed"
      default: ", after the link's last \(outcome.trimmed) parts were removed"
      }
    switch outcome {
    case .matched(let route, _):
      let key = links.file.map { "'\($0.routes[route].key)'" } ?? ""
      return "the link matches route \(key), number \(route + 1) of the file\(shortened)"
    case .fallback: return "no route matches the link: the default route applies"
    case .none:
      return links.file == nil ? "the job has no routes: only the link's query counts" : "no route matches the link"
    }
  }
}
