import BatchFoundation

extension DeviceRules {
  // MARK: - Raw events

  /// Passes a phone's stored event through, normalized: core attributes come first, missing ones are filled in, and if
  /// a name is repeated, the last value is kept (reference decisions 13).
  mutating func emitRaw(_ record: Record) {
    guard isSent(record.subject ?? .empty) else { return }
    clearDraft(record.subject ?? .empty, at: record.timestamp, core: CoreTexts())
    draft.core[.deviceId] = state.device
    if let attributes = record.body {
      for attribute in attributes.elements {
        guard let name = attribute["name"]?.string else { continue }
        let value = attribute["value"]
        if let value, let text = Self.attributeText(name, value, tags: settings.fields[.tags], in: arena) {
          draft.set(name, text)
        } else if value == nil {
          draft.set(name, .empty)
        } else {
          warn(ofNested: name, in: "a raw event")
        }
      }
    }
    draft.identityIsFixed = true
    state.emission += 1
    append(emission: state.emission)
    explanation?.note("raw event passed through")
  }

  // MARK: - Emission

  /// Starts the draft of an event with the attributes that every event carries.
  @inline(__always)
  mutating func startDraft(_ code: Text, at instant: Instant, core: CoreTexts) {
    clearDraft(code, at: instant, core: core)
    let fields = settings.codes.ofEveryEvent
    for place in 0..<fields.count {
      let field = fields[place]
      if let value = deviceValue(of: field, userId: core[.primaryUserId]) { draft.add(settings.fields[field], value) }
    }
  }

  @inline(__always)
  private mutating func clearDraft(_ code: Text, at instant: Instant, core: CoreTexts) {
    draft.clear(code: code, timestamp: instant, core: core)
    draft.source = source
    draft.isLate = isDecidingLate
  }

  /// Numbers the drafted event and emits it, or holds it while its samples may still come.
  mutating func emit() {
    guard isSent(draft.code) else { return }
    state.emission += 1
    place(emission: state.emission)
  }

  private mutating func isSent(_ code: Text) -> Bool {
    if code.isEmpty {
      warn(.noEventCode, "General.eventCodes has no code for this type of event; the event is not sent")
    } else if settings.codes.isOfService(code) {
      warn(.noEventCode, "only the service itself creates events with code \(code); the event is not sent")
    } else {
      return true
    }
    return false
  }

  mutating func place(emission: Int64) {
    if augmentsDevice {
      if draftMayStillGetSamples() {
        explanation?.note(
          "event \(draft.code) is held for samples until the timeout (Augmentation.augmentationTimeout)")
        let deadline = draft.timestamp + settings.augmentation.timeout
        state.held.append(HeldEvent(draft: draft, emission: emission, deadline: deadline))
        return
      }
      Augmentation.apply(to: &draft, state.samples, settings, in: arena)
    }
    append(emission: emission)
  }

  /// Returns whether the drafted event lacks a sample that may still come: neither a record nor the known time is past its
  /// deadline.
  private mutating func draftMayStillGetSamples() -> Bool {
    let deadline = draft.timestamp + settings.augmentation.timeout
    if let lastRecord, lastRecord > deadline { return false }
    guard !Augmentation.isComplete(draft, state.samples, settings) else { return false }
    guard let knownUntil, knownUntil > deadline else { return true }
    // If a record of the device is after the deadline, that record, not inactivity, settled the event.
    if state.lastSeen.map({ $0 <= deadline }) ?? true {
      state.awaitedUntil = max(state.awaitedUntil ?? deadline, deadline)
    }
    return false
  }

  private mutating func append(emission: Int64) {
    if let withheld = settings.withheld { withheld.apply(to: &draft, in: arena) }
    let core = unsafe draft.placedCore(&output.newestCore, in: arena)
    unsafe output.events.append(
      Event(
        code: draft.code, timestamp: draft.timestamp, device: state.device, emission: emission,
        core: core, attributes: draft.ordered(in: arena), expired: draft.expired,
        identityIsFixed: draft.identityIsFixed, isLate: draft.isLate, source: draft.source))
    explanation?.emitted(draft.explained, emission: emission)
  }

  /// Withdraws an event emitted in this run before it is used.
  mutating func withdraw(_ emission: Int64) {
    state.held.removeAll { $0.emission == emission }
    // The event is one of the device's latest, so the search runs backwards.
    if let index = output.events.lastIndex(where: { $0.emission == emission && $0.device == state.device }) {
      output.events.remove(at: index)
    }
    explanation?.withdrawn(
      emission, "the start event is replaced by the event for a link at the same instant")
  }

  /// At the end of the input, emits the held events whose samples came or can no longer come.
  mutating func settleHeld() {
    let held = state.held
    state.held = []
    for event in held {
      draft = event.draft
      place(emission: event.emission)
    }
  }
}
