import BatchFoundation
import EngageEvents

/// Records older than what an earlier run processed of their device (`Ingest.lateRecords`).
extension DeviceRules {
  /// A late record speaks for its own instant only: neither sessions nor campaigns nor known values are rewound
  /// (`Ingest.lateRecords`). What somebody agrees to, or does not, holds whenever it is told.
  mutating func processLate(_ record: Record) {
    guard settings.lateRecords == .accept else {
      output.late.append(LateRecord(position: record.position))
      explanation?.note("late: before \(processedUntil?.rfc3339 ?? ""), quarantined (Ingest.lateRecords = quarantine)")
      return
    }
    explanation?.note(
      "late: before \(processedUntil?.rfc3339 ?? ""), state is not rewound (Ingest.lateRecords = accept)")
    warn(.lateRecord, "older than what an earlier run processed of its device; state is not wound back")
    if record.type == .consent { return setConsent(record) }
    if isDenied { return withhold(record) }
    guard record.type.becomesEvent || record.type == .rawEvent || record.type.concernsRecipient else { return }
    let kept = state
    state.take(record)
    switch record.type {
    case .rawEvent: emitRaw(record)
    case .identify, .contactList, .program, .optOut, .optIn: check(record)
    case .deepLink: emit(linkDraft(record))
    default: emit(draft(of: record))
    }
    let (emission, held) = (state.emission, state.held)
    state = kept
    (state.emission, state.held) = (emission, held)
  }
}
