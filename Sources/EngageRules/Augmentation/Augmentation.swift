import BatchFoundation

/// The loop over the plug-ins of one event, decided from recorded samples instead of waited for (reference events 5.2).
enum Augmentation {
  enum Outcome {
    /// All plug-ins that concern the device are done.
    case complete
    /// At least one can not be ready with the samples known so far.
    case lacking
  }

  /// Whether the samples known now suffice for all plug-ins.
  static func outcome(of draft: EventDraft, _ samples: LocationSamples, _ settings: RuleSettings) -> Outcome {
    for plugin in settings.augmentation.plugins
    where plugin.readiness(of: draft, samples, settings.augmentation) == .never {
      return .lacking
    }
    return .complete
  }

  /// Applies what is ready within the event's time; marks the draft expired if something was not.
  ///
  /// The loop of the SDKs, with the moments at which something changes in place of polling: a plug-in that is ready is done
  /// and leaves the list, an asynchronous one that is not is passed over, a synchronous one is waited for. A plug-in that lacks
  /// what it starts from is passed over too while one before it may still add it.
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
