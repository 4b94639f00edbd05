import BatchFoundation

/// Users, opting out and consent (reference deltadna 3).
extension GameRules {
  /// Generates the user if there is none yet.
  mutating func makeUser() {
    guard state.user.isEmpty else { return }
    state.user = generatedUser
    explanation?.note(
      "user id generated from \(state.cleared == nil ? "the device id" : "the record that cleared the last one")")
  }

  /// The id generated from the device id, or from the record that cleared the last user; the same on every run.
  var generatedUser: Text {
    (state.cleared.map { $0.uuid("userID") } ?? NameUUID.program.uuid(state.device)).text(in: arena)
  }

  mutating func forgetMe() {
    makeUser()
    guard !state.forgotten.contains(state.user) else {
      explanation?.note("the player was already forgotten")
      return
    }
    endGame("the player is forgotten")
    emitForgetMe()
    state.optedOut.insert(state.user)
    state.forgotten.insert(state.user)
  }

  mutating func stopTracking() {
    makeUser()
    endGame("tracking of the player was stopped")
    state.optedOut.insert(state.user)
  }

  mutating func setConsent() {
    let wasDenied = state.isDenied
    if let use = record.use { state.use = use }
    if let export = record.export { state.export = export }
    if state.isDenied, !wasDenied { endSession("consent was denied") }
  }

  mutating func clearPersistentData() {
    endSession("persistent data was cleared")
    state.user = .empty
    state.cleared = record.key
    state.known = PlayerSet()
    state.optedOut = PlayerSet()
    state.forgotten = PlayerSet()
    state.phase = .off
    state.lastSession = .empty
    state.pushToken = .empty
    state.crossGameUserID = .empty
    state.triggers = TriggerCounts()
  }

  /// Counts a record that is dropped because the player opted out or denied consent.
  mutating func block() {
    if state.isOptedOut {
      output.counts.optedOut += 1
      explanation?.note("dropped: the player opted out")
    } else {
      output.counts.consentDenied += 1
      explanation?.note("dropped: consent is denied")
    }
  }
}
