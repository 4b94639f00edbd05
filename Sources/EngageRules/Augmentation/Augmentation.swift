import EngageModel

/// The loop over the plug-ins of one event, decided from recorded samples instead of waited for (spec engage-events 5.2).
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
  static func apply(to draft: inout EventDraft, _ samples: LocationSamples, _ settings: RuleSettings, in arena: Arena) {
    for plugin in settings.augmentation.plugins {
      switch plugin.readiness(of: draft, samples, settings.augmentation) {
      case .notConcerned:
        continue
      case .ready:
        plugin.apply(to: &draft, samples, settings, in: arena)
      case .never:
        draft.expired = true
        // It would hold up everything behind it until the event's time is up.
        if plugin.isSynchronous { return }
      }
    }
  }
}
