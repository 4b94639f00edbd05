import BatchFoundation

/// Consent (reference events 3.5): events recorded while it is denied are not sent.
extension DeviceRules {
  /// Whether consent is denied, so that no event recorded now is sent.
  package var isDenied: Bool { settings.appliesConsent && state.consent.isDenied }

  mutating func setConsent(_ record: Record) {
    guard settings.appliesConsent else {
      return warn(.ignoredConsent, "checked and ignored (Recipient.consentRecords = ignore)")
    }
    let wasDenied = state.consent.isDenied
    state.consent = state.consent.taking(Consent(record))
    guard state.consent.isDenied != wasDenied else { return }
    guard state.consent.isDenied else {
      explanation?.note("consent is given")
      return
    }
    explanation?.note("consent is denied: nothing recorded from here on is sent")
    switch state.session {
    case .none: break
    case .active:
      state.session = .none
      explanation?.note("the active session ends without an event")
    case .paused(let pause): end(pause)
    }
  }

  /// Processes a record while consent is denied: the device's state is updated, and an opt-out is still requested.
  mutating func withhold(_ record: Record) {
    if record.type.isLifecycle { state.hasLifecycle = true }
    if record.type == .optOut { return check(record) }
    guard record.type.becomesEvent || record.type == .rawEvent || record.type.concernsRecipient else { return }
    warn(.consentDenied, "\(record.type)")
  }

  /// Registers an upcoming consent record, which affects the samples around it.
  mutating func announceConsent(_ record: Record) {
    guard settings.appliesConsent else { return }
    consentsToCome.insert((record.timestamp, Consent(record)), at: consentsToCome.place { $0.at <= record.timestamp })
  }

  /// Drops the announced samples that were recorded while consent was denied, because they count for no event.
  mutating func dropDeniedSamples() {
    samplesAreNew = false
    guard isDenied || !consentsToCome.isEmpty else { return }
    let known = processedUntil ?? Instant(milliseconds: 0)
    func wasDenied(at instant: Instant) -> Bool {
      guard instant >= known else { return false }
      return consentsToCome.prefix { $0.at <= instant }.reduce(state.consent) { $0.taking($1.consent) }.isDenied
    }
    state.samples.coordinates.removeAll { wasDenied(at: $0.at) }
    state.samples.places.removeAll { wasDenied(at: $0.at) }
    consentsToCome = []
  }
}

extension Consent {
  fileprivate init(_ record: Record) {
    self.init()
    use = record.use
    export = record.export
  }
}

/// A person's consent by purpose; nil for a purpose that no record has mentioned yet (reference events 3.5).
package struct Consent: Equatable {
  package var use: Bool?
  package var export: Bool?

  /// Whether consent is denied for any purpose; then no event of the device is sent.
  package var isDenied: Bool { use == false || export == false }

  /// Returns this consent updated by a record; purposes that the record omits are unchanged.
  func taking(_ recorded: Consent) -> Consent {
    var consent = self
    if let use = recorded.use { consent.use = use }
    if let export = recorded.export { consent.export = export }
    return consent
  }
}
