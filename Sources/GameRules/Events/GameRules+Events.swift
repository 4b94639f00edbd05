import BatchFoundation

/// Records that become events (reference deltadna 2 and 4).
extension GameRules {
  /// Emits the event that the record describes, and starts a session for it if necessary.
  mutating func recordEvent() {
    if isBlocked { return block() }
    enterSession()
    emitOwn()
  }

  mutating func registerPushToken() {
    let token = client.pushToken(record.value ?? .empty, in: arena)
    let isChanged = token != client.pushToken(state.pushToken, in: arena)
    state.pushToken = token
    guard !token.isEmpty, isChanged else { return }
    if isBlocked { return block() }
    enterSession()
    parameters.removeAll()
    parameters.set(client.pushTokenName, token)
    emit("notificationServices")
  }

  mutating func registerCrossGameUserID() {
    guard let id = record.value, !id.isEmpty, id != state.crossGameUserID else { return }
    state.crossGameUserID = id
    if isBlocked { return block() }
    enterSession()
    parameters.removeAll()
    parameters.set("ddnaCrossGameUserID", id)
    emit("ddnaRegisterCrossGameUserID")
  }

  /// Emits the event that the record describes.
  mutating func emitOwn() {
    parameters.removeAll()
    switch record.type {
    case .notificationOpened: setNotification()
    case .imageMessageAction: if let own = record.own { parameters.set(own, canonical) }
    default: if let own = record.own { parameters.set(own, CanonicalView(dropsEmpty: false)) }
    }
    if record.lacksReceipt { warn(.incompleteReceipt) }
    if let params = record.params { parameters.set(params, canonical) }
    switch record.type {
    case .goalCompleted: emit("goalCompleted")
    case .goalAbandoned: emit("goalAbandoned")
    case .transaction: emit("transaction")
    case .imageMessageAction: emit("imageMessageAction")
    case .notificationOpened: emit("notificationOpened")
    case .deepLink: emit(settings.deepLinkEventName)
    default: emit(record.name ?? .empty)
    }
  }

  /// Sets the parameters that describe a push payload and its campaign (reference deltadna-service 1.6).
  private mutating func setNotification() {
    let payload = record.own
    func present(_ key: Text) -> JSONView? { payload?[key].flatMap { $0.isNull ? nil : $0 } }
    func text(_ key: Text) -> Text? { present(key)?.string.flatMap { $0.isEmpty ? nil : $0 } }
    func integer(_ key: Text) -> Text? {
      guard let value = present(key), let text = value.number ?? value.string, text.isInteger64 else { return nil }
      return text
    }
    if let id = integer("_ddId") { parameters.set("notificationId", number: id) }
    if let name = text("_ddName") { parameters.set("notificationName", name) }
    if let campaign = integer("_ddCampaign") { parameters.set("campaignId", number: campaign) }
    if let cohort = integer("_ddCohort") { parameters.set("cohortId", number: cohort) }
    if present("_ddCampaign") != nil || present("_ddCohort") != nil {
      let isApple = client.isApplePhone || present("aps") != nil
      let sender = text("_ddCommunicationSender") ?? (isApple ? "APPLE_NOTIFICATION" : "GOOGLE_NOTIFICATION")
      parameters.set("communicationSender", sender)
      parameters.set("communicationState", "OPEN")
    }
    parameters.set("notificationLaunch", record.didLaunch ?? present("_ddLaunch")?.bool ?? false)
  }

  // MARK: - Stored events

  /// Passes on an event that an SDK stored. The event bypasses the whitelist and triggers, and causes no start events.
  mutating func recordStoredEvent() {
    state.known.insert(state.user)
    let forgets = record.name == "ddnaForgetMe"
    if isBlocked {
      guard forgets, !state.forgotten.contains(state.user) else { return block() }
      emitStored(session: record.sessionID ?? (settings.fillsSessionID ? sessionOfForgetMe : .empty))
    } else {
      emitStored(session: enterStoredSession(forgets: forgets))
    }
    guard forgets else { return }
    endSession("the player was forgotten")
    state.optedOut.insert(state.user)
    state.forgotten.insert(state.user)
  }

  private mutating func enterStoredSession(forgets: Bool) -> Text {
    if let session = record.sessionID {
      if session != state.session { setSession(session) }
    } else if !settings.fillsSessionID {
      return .empty
    } else if state.session.isEmpty {
      // Outside a session, a request to be forgotten carries the last session without reopening it.
      if forgets, !state.lastSession.isEmpty { return state.lastSession }
      beginSession()
    }
    keepOpen()
    return state.session
  }

  mutating func emitStored(session: Text) {
    parameters.removeAll()
    if let params = record.params { parameters.set(params, canonical) }
    append(record.name ?? .empty, finishParameters(ofStored: true), session: session, isStored: true)
  }

  // MARK: - Engagements

  mutating func engage() {
    if state.isOptedOut { return ask(block: .optedOut) }
    if state.isDenied { return ask(block: .consentDenied) }
    enterSession()
    let isWanted =
      configuration?.allows(decisionPoint: record.name ?? .empty, flavour: record.flavour ?? "engagement") ?? true
    ask(block: isWanted ? nil : .notWhitelisted)
  }

  mutating func ask(block: Engagement.Block?) {
    var json = ByteBuffer()
    if let params = record.params {
      let start = unsafe arena.allocate(params.size)
      var writer = unsafe ViewWriter(at: start)
      canonical.write(params, to: &writer)
      unsafe CanonicalJSON.append(JSONView(at: start), to: &json)
    } else {
      json.append("{}")
    }
    state.emission += 1
    let version = state.block[.osVersion]
    unsafe output.engagements.append(
      Engagement(
        timestamp: record.timestamp, device: ByteText(state.device), emission: state.emission, consent: state.consent,
        block: block,
        request: DecisionRequest(
          decisionPoint: ByteText(record.name ?? .empty), flavour: ByteText(record.flavour ?? "engagement"),
          parameters: ByteText(String(decoding: json.bytes, as: UTF8.self)),
          userID: ByteText(state.user.isEmpty ? generatedUser : state.user),
          sessionID: state.session.isEmpty ? nil : ByteText(state.session), sdkVersion: ByteText(settings.sdkVersion),
          platform: ByteText(client.platform), locale: state.block.userLocale(in: arena).map { ByteText($0) },
          timezoneOffset: state.block.offset(in: arena).map { ByteText($0) },
          manufacturer: state.block.maker(client).map { ByteText($0) },
          operatingSystemVersion: version.isEmpty ? nil : ByteText(version))))
    explanation?.note("engagement \(record.name ?? .empty)\(block.map { ", not requested: \($0.words)" } ?? "")")
  }
}

extension Engagement.Block {
  /// The reason in words, for explanations.
  fileprivate var words: String {
    switch self {
    case .optedOut: "the player opted out"
    case .consentDenied: "consent is denied"
    case .notWhitelisted: "the session configuration does not list the decision point"
    }
  }
}

extension ByteText {
  /// Copies the text, so that it outlives the record.
  fileprivate init(_ text: Text) { self.init(text.description) }
}
