import BatchFoundation

/// Consent (reference events 3.5): while it is denied, nothing that was recorded goes out.
extension DeviceRules {
  /// Nothing that is recorded now goes out.
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
    explanation?.note("consent is denied: nothing that is recorded from here on goes out")
    switch state.session {
    case .none: break
    case .active:
      state.session = .none
      explanation?.note("the session in use ends without an event")
    case .paused(let pause): end(pause)
    }
  }

  /// What a record does while consent is denied: what is known of the device moves on, and an opt-out is asked for.
  mutating func withhold(_ record: Record) {
    if record.type.isLifecycle { state.hasLifecycle = true }
    if record.type == .optOut { return check(record) }
    guard record.type.becomesEvent || record.type == .rawEvent || record.type.concernsRecipient else { return }
    warn(.consentDenied, "\(record.type)")
  }

  /// Takes note of a consent record to come, for the samples around it.
  mutating func announceConsent(_ record: Record) {
    guard settings.appliesConsent else { return }
    consentsToCome.insert((record.timestamp, Consent(record)), at: consentsToCome.place { $0.at <= record.timestamp })
  }

  /// Drops the samples that were announced and recorded while consent was denied: they count for no event, of whatever time.
  mutating func dropDeniedSamples() {
    samplesAreNew = false
    guard isDenied || !consentsToCome.isEmpty else { return }
    let known = processedUntil ?? Instant(milliseconds: 0)
    func wasDenied(at instant: Instant) -> Bool {
      guard instant >= known else { return false }
      return consentsToCome.prefix { $0.at <= instant }.reduce(state.consent) { $0.taking($1.said) }.isDenied
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

/// What somebody has agreed to, by purpose; nil until they are asked (reference events 3.5).
package struct Consent: Equatable {
  package var use: Bool?
  package var export: Bool?

  package init() {}

  /// Nothing of the device goes out.
  package var isDenied: Bool { use == false || export == false }

  /// With what a record says; what it leaves out stays.
  func taking(_ said: Consent) -> Consent {
    var consent = self
    if let use = said.use { consent.use = use }
    if let export = said.export { consent.export = export }
    return consent
  }
}
