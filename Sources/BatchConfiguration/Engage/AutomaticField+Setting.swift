import BatchFoundation

extension AutomaticField {
  /// The key in `UBFFieldNames` that sets the field's name; nil for a field that is named only in tables of event
  /// codes.
  fileprivate var key: String? {
    switch self {
    case .tags: "UBFTagsFieldName"
    case .displayedMessage: "UBFDisplayedMessageFieldName"
    case .callToAction: "UBFCallToActionFieldName"
    case .eventName: "UBFEventNameFieldName"
    case .goalName: "UBFGoalNameFieldName"
    case .campaign: "UBFCurrentCampaignFieldName"
    case .lastCampaign: "UBFLastCampaignFieldName"
    case .activeSeconds, .activeMinutes: "UBFSessionDurationFieldName"
    case .locationAddress: "UBFLocationAddressFieldName"
    case .locationName: "UBFLocationNameFieldName"
    case .latitude: "UBFLatitudeFieldName"
    case .longitude: "UBFLongitudeFieldName"
    case .channel, .actionType, .actionValue, .mobileUserId, .channelId, .appKey: nil
    }
  }

  /// The setting that determines the field's name.
  fileprivate var setting: String { key.map { "UBFFieldNames.\($0)" } ?? "General.eventCodes" }

  /// The fields that augmentation adds to any event; tables of event codes do not place them.
  static let ofAugmentation: [AutomaticField] = [.locationAddress, .locationName, .latitude, .longitude]
}

extension Setting {
  /// The setting for an automatic field's name; ``SettingLayers/nameAttributes(of:)`` also considers the event codes.
  static func attribute(_ field: AutomaticField, _ fallback: String, _ summary: String) -> Setting {
    Setting(field.key ?? "", .text(.name), fallback: .text(fallback), \.attributeNames[field], summary, \.string)
  }
}

extension SettingLayers {
  private var eventCodes: EventCodes { winner("General.eventCodes").flatMap { EventCodes($0.value) } ?? .engageSDK }

  /// Returns the field's name in events: from the user's setting, otherwise from the event codes, otherwise from the
  /// setting's default.
  private func name(of field: AutomaticField, _ codes: EventCodes) -> String {
    let resolved = field.key.flatMap { key in self.resolved.first { $0.setting.key == key } }
    if let resolved, resolved.given.value != resolved.chain[0].value { return resolved.given.text }
    return codes.names[field] ?? resolved?.given.text ?? ""
  }

  func nameAttributes(of settings: inout Settings) {
    for field in AutomaticField.allCases { settings.attributeNames[field] = name(of: field, eventCodes) }
  }

  /// Reports automatic fields that would have the same name in one event (reference decisions 44).
  mutating func checkNames() {
    let codes = eventCodes
    var reported: Set<Set<AutomaticField>> = []
    for kind in EventKind.allCases {
      var first: [ByteText: AutomaticField] = [:]
      for field in codes[kind].fields + codes.ofEveryEvent + AutomaticField.ofAugmentation {
        let name = name(of: field, codes)
        guard let other = first.updateValue(field, forKey: ByteText(name)), other != field,
          reported.insert([field, other]).inserted
        else { continue }
        let places = [field, other].compactMap { winner($0.setting) }
        guard let place = (places.first { $0.layer != .defaults } ?? places.first)?.place else { continue }
        let givers =
          other.setting == field.setting ? "'\(field.setting)' gives" : "'\(other.setting)' and '\(field.setting)' give"
        report(
          place, "\(givers) two attributes of the event '\(kind.words)' the same name '\(name)'",
          hint: "give one of them another name")
      }
    }
  }
}
