import BatchFoundation

/// Late records (reference decisions 34) that BatchPipeline's `Rewind` could not put back into their night.
extension DeviceRules {
  /// Processes a late record, which counts for its own instant only: finished sessions and campaigns and known values
  /// stay unchanged. A consent record applies from the moment it is read. Returns false if more held events must be
  /// released first.
  mutating func processLate(_ record: Record) -> Bool {
    if isReleasing { return !releaseHeldEvents(at: record.timestamp) }
    let processed = processedUntil?.rfc3339 ?? ""
    guard settings.lateRecords == .accept else {
      output.late.append(record.position)
      explanation?.note("late: before \(processed), quarantined (Ingest.lateRecords = quarantine)")
      return true
    }
    explanation?.note("late: before \(processed), outside sessions and campaigns (Ingest.lateRecords = accept)")
    warn(
      .lateRecord,
      "earlier than the time up to which its device was processed; processed outside sessions and campaigns")
    if record.type == .consent {
      setConsent(record)
      return !releaseHeldEvents(at: record.timestamp)
    }
    if isDenied {
      withhold(record)
    } else if record.type.becomesEvent || record.type == .rawEvent || record.type.concernsRecipient {
      emitLate(record)
    }
    return true
  }

  /// Emits the event or check for a late record, then restores all state except the numbering and the held events.
  private mutating func emitLate(_ record: Record) {
    let kept = state
    isDecidingLate = true
    defer { isDecidingLate = false }
    state.take(record)
    if settings.reconcilesIdentities, record.mobileUserId != nil { noteOwner(record, from: nil) }
    state.campaign = nil
    switch record.type {
    case .rawEvent: emitRaw(record)
    case .identify, .contactList, .program, .optOut, .optIn: check(record)
    case .deepLink:
      draftLink(record)
      emit()
    default:
      state.campaign = ownCampaign(of: record)
      draftEvent(of: record)
      emit()
    }
    let (emission, held) = (state.emission, state.held)
    state = kept
    (state.emission, state.held) = (emission, held)
  }
}
