import BatchFoundation

/// The loop over the plug-ins of one event; recorded samples take the place of waiting (reference events 5.2).
enum Augmentation {
  enum Outcome {
    /// All plug-ins that concern the device can be applied.
    case complete
    /// At least one cannot become ready with the samples known so far.
    case lacking
  }

  /// Returns whether the samples known now suffice for all plug-ins.
  static func outcome(of draft: EventDraft, _ samples: LocationSamples, _ settings: RuleSettings) -> Outcome {
    for plugin in settings.augmentation.plugins
    where plugin.readiness(of: draft, samples, settings.augmentation) == .never {
      return .lacking
    }
    return .complete
  }

  /// Applies the plug-ins that are ready within the event's time; marks the draft expired if one was not.
  ///
  /// Follows the loop of the SDKs, but jumps to the instants at which something changes instead of polling. A plug-in
  /// that is ready is applied and leaves the list. An asynchronous one that is not ready is passed over; a synchronous
  /// one is waited for. A plug-in that lacks its input is also passed over while one before it may still add it.
  static func apply(to draft: inout EventDraft, _ samples: LocationSamples, _ settings: RuleSettings, in arena: Arena) {
    var waiting: [(plugin: any AugmentationPlugin, readyAt: Instant?)] = []
    for plugin in settings.augmentation.plugins {
      switch plugin.readiness(of: draft, samples, settings.augmentation) {
      case .notConcerned: continue
      case .ready(let instant): waiting.append((plugin, instant))
      case .never: waiting.append((plugin, nil))
      }
    }
    var now = draft.timestamp
    var index = 0
    var passedOver = 0
    while !waiting.isEmpty {
      if index >= waiting.count { index = 0 }
      let (plugin, readyAt) = waiting[index]
      if let readyAt, readyAt <= now, index == 0 || !plugin.lacksInput(in: draft) {
        plugin.apply(to: &draft, samples, settings, in: arena)
        waiting.remove(at: index)
        passedOver = 0
      } else if plugin.isSynchronous {
        guard let readyAt else { break }
        now = readyAt
      } else {
        index += 1
        passedOver += 1
        guard passedOver == waiting.count else { continue }
        guard let next = waiting.compactMap(\.readyAt).filter({ $0 > now }).min() else { break }
        now = next
        passedOver = 0
      }
    }
    draft.expired = !waiting.isEmpty
  }
}
