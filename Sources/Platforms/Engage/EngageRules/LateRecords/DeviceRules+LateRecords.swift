import BatchFoundation
import EngageEvents

/// Records older than what an earlier run processed of their device (`Ingest.lateRecords`).
extension DeviceRules {
  /// A late record speaks for its own instant only: neither sessions nor campaigns nor known values are rewound
  /// (`Ingest.lateRecords`). What somebody agrees to, or does not, holds whenever it is told.
  ///
  /// - Returns: false if more of what waited is to go.
  mutating func processLate(_ record: Record) -> Bool {
    if isReleasing { return !releases(at: record.timestamp) }
    guard settings.lateRecords == .accept else {
      output.late.append(LateRecord(position: record.position))
      explanation?.note("late: before \(processedUntil?.rfc3339 ?? ""), quarantined (Ingest.lateRecords = quarantine)")
      return true
    }
    explanation?.note(
      "late: before \(processedUntil?.rfc3339 ?? ""), state is not rewound (Ingest.lateRecords = accept)")
    warn(.lateRecord, "older than what an earlier run processed of its device; state is not wound back")
    if record.type == .consent {
      setConsent(record)
      return !releases(at: record.timestamp)
    }
    if isDenied {
      withhold(record)
    } else if record.type.becomesEvent || record.type == .rawEvent || record.type.concernsRecipient {
      emitLate(record)
    }
    return true
  }

  /// Takes back what the record says of the device.
  private mutating func emitLate(_ record: Record) {
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
