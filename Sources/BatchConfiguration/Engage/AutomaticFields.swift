import BatchFoundation

/// The automatic fields that one event can carry, by the settings that name them (reference events 1.4).
struct AutomaticFields {
  /// What the events are called in messages.
  var event: String
  /// Keys of `UBFFieldNames`.
  var keys: [String]

  private static let places = [
    "UBFLocationAddressFieldName", "UBFLocationNameFieldName", "UBFLatitudeFieldName", "UBFLongitudeFieldName",
  ]

  static let all: [AutomaticFields] = [
    ("a notification", ["Tags", "DisplayedMessage", "CallToAction", "CurrentCampaign"]),
    ("a named event", ["EventName", "CurrentCampaign"]),
    ("a goal", ["GoalName", "CurrentCampaign"]),
    ("the start of a session", ["CallToAction", "CurrentCampaign"]),
    ("the end of a session", ["SessionDuration", "CurrentCampaign"]),
    ("an installation", ["LastCampaign"]),
  ].map { event, names in AutomaticFields(event: event, keys: names.map { "UBF\($0)FieldName" } + places) }
}

extension SettingLayers {
  /// Two automatic fields of one event need two names (reference decisions 44).
  mutating func checkNames(_ fields: AutomaticFields) {
    var first: [ByteText: (name: String, given: GivenValue)] = [:]
    for key in fields.keys {
      let name = "\(SettingSection.ubfFieldNames.rawValue).\(key)"
      guard let given = winner(name), case .text(let text) = given.value else { continue }
      guard let other = first.updateValue((name, given), forKey: ByteText(text)) else { continue }
      let problem = "'\(other.name)' and '\(name)' are both '\(text)', and \(fields.event) carries both"
      // Two names that meet in several events are told of once.
      guard !faults.contains(where: { $0.problem.hasPrefix("'\(other.name)' and '\(name)' are both") }) else {
        continue
      }
      let place = given.layer == .defaults ? other.given.place : given.place
      report(ConfigurationFault(place, problem, hint: "give one of them another name"))
    }
  }
}
