import BatchFoundation

/// Automatic events, and the emission of events (reference deltadna 4, 5 and 7).
extension GameRules {
  mutating func emitNewPlayer() {
    parameters.removeAll()
    if let country = state.block.userCountry { parameters.set("userCountry", country) }
    emit("newPlayer")
  }

  mutating func emitGameStarted() {
    if !automatic.areOf(state) { automatic = AutomaticParameters(of: state) }
    if automatic.gameStarted == nil { automatic.gameStarted = gameStarted() }
    emit("gameStarted", automatic.gameStarted)
  }

  private mutating func gameStarted() -> JSONView {
    parameters.removeAll()
    let version = state.block[.appVersion].isEmpty ? settings.clientVersion : state.block[.appVersion]
    if !version.isEmpty { parameters.set("clientVersion", version) }
    if !state.crossGameUserID.isEmpty { parameters.set("ddnaCrossGameUserID", state.crossGameUserID) }
    if !state.pushToken.isEmpty { parameters.set(client.pushTokenName, client.pushToken(state.pushToken, in: arena)) }
    if let locale = state.block.userLocale(in: arena) { parameters.set("userLocale", locale) }
    return finishParameters()
  }

  mutating func emitClientDevice() {
    if !automatic.areOf(state) { automatic = AutomaticParameters(of: state) }
    if automatic.clientDevice == nil { automatic.clientDevice = clientDevice() }
    emit("clientDevice", automatic.clientDevice)
  }

  private mutating func clientDevice() -> JSONView {
    parameters.removeAll()
    let block = state.block
    if !block[.name].isEmpty { parameters.set("deviceName", block[.name]) }
    parameters.set("deviceType", block.kindOfDevice)
    if let version = block.hardwareVersion { parameters.set("hardwareVersion", version) }
    if let maker = block.maker(client) { parameters.set("manufacturer", maker) }
    parameters.set("operatingSystem", client.operatingSystem)
    if !block[.osVersion].isEmpty { parameters.set("operatingSystemVersion", block[.osVersion]) }
    if let offset = block.offset(in: arena) { parameters.set("timezoneOffset", offset) }
    if let language = block.userLanguage { parameters.set("userLanguage", language) }
    return finishParameters()
  }

  mutating func emitGameEnded() {
    parameters.removeAll()
    emit("gameEnded")
  }

  mutating func emitForgetMe() {
    parameters.removeAll()
    if let id = record.value { parameters.set("ddnaAdvertisingId", id) }
    append("ddnaForgetMe", finishParameters(), session: sessionOfForgetMe, isStored: false)
  }

  /// The current session, otherwise the user's last one, otherwise a new id that no other event has.
  var sessionOfForgetMe: Text {
    if !state.session.isEmpty { return state.session }
    return state.lastSession.isEmpty ? record.key.uuid("sessionID").text(in: arena) : state.lastSession
  }

  /// Emits an event and the responses of triggers to it. Drops an event that is not in `eventsWhitelist`.
  ///
  /// - Parameter finished: the event's `eventParams`; nil to use the parameters that were set.
  mutating func emit(_ name: Text, _ finished: JSONView? = nil) {
    if let configuration, !configuration.allows(event: name) {
      output.counts.notWhitelisted += 1
      explanation?.note("\(name) dropped: not in eventsWhitelist")
      return
    }
    let parameters = finished ?? finishParameters()
    append(name, parameters, session: state.session, isStored: false)
    guard let configuration else { return }
    responses.removeAll(keepingCapacity: true)
    configuration.respond(
      toEvent: name, parameters: parameters, session: state.session, counts: &state.triggers,
      all: settings.triggersMultipleActions, into: &responses)
    guard !responses.isEmpty else { return }
    // Responses are events too, but they trigger nothing.
    for response in responses { emit(response) }
  }

  private mutating func emit(_ response: TriggerResponse) {
    let trigger = response.trigger
    output.counts.triggered += 1
    output.counts.responses[trigger.key, default: 0] += 1
    explanation?.note("variant \(trigger.variantID) of campaign \(trigger.campaignID) responds")
    let name: Text = "ddnaEventTriggeredAction"
    if let configuration, !configuration.allows(event: name) {
      output.counts.notWhitelisted += 1
      return
    }
    parameters.removeAll()
    parameters.set("ddnaEventTriggeredCampaignID", number: arena.text(String(trigger.campaignID)))
    parameters.set("ddnaEventTriggeredCampaignPriority", number: arena.text(String(trigger.priority)))
    parameters.set("ddnaEventTriggeredVariantID", number: arena.text(String(trigger.variantID)))
    parameters.set("ddnaEventTriggeredActionType", arena.text(trigger.action.rawValue))
    parameters.set("ddnaEventTriggeredSessionCount", number: arena.text(String(response.sessionCount)))
    if let campaign = trigger.campaignName { parameters.set("ddnaEventTriggeredCampaignName", campaign) }
    if let variant = trigger.variantName { parameters.set("ddnaEventTriggeredVariantName", variant) }
    append(name, finishParameters(), session: state.session, isStored: false)
  }

  /// Returns the `eventParams` made from the parameters that were set.
  mutating func finishParameters(ofStored isStored: Bool = false) -> JSONView {
    parameters.finish(
      platform: client.platform, sdkVersion: settings.sdkVersion, ownClient: isStored, canonical, in: arena)
  }

  /// Emits an event without consulting the session configuration.
  mutating func append(_ name: Text, _ parameters: JSONView, session: Text, isStored: Bool) {
    let number = number(of: name)
    var id = record.eventUUID.map(EventUUID.init)
    if id == nil, explanation != nil { id = .key(record.key.uuid(name, number: number)) }
    if id == nil { ids.add(event: output.events.count, number: number) }
    state.emission += 1
    output.events.append(
      GameEvent(
        name: name, userID: state.user, sessionID: session,
        eventUUID: id ?? .key(record.key),
        parameters: parameters, timestamp: record.timestamp, device: state.device, emission: state.emission,
        consent: state.consent, isStored: isStored, source: source))
    if let explanation, let event = output.events.last {
      explanation.emitted(event.explained, emission: event.emission)
    }
  }

  /// Returns the number of earlier events with that name from the same record.
  private mutating func number(of name: Text) -> Int {
    for index in named.indices where named[index].name == name {
      named[index].count += 1
      return named[index].count - 1
    }
    named.append((name, 1))
    return 0
  }
}

extension GameEvent {
  fileprivate var explained: String {
    var json = ByteBuffer()
    CanonicalJSON.append(parameters, to: &json)
    return unsafe "\(name) \(eventUUID) \(String(decoding: json.bytes, as: UTF8.self))"
  }
}
