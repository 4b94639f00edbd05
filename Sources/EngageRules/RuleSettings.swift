package import BatchFoundation

/// The configuration of the rules: everything that can change the result of a record. Names are those in the wire
/// format. The texts live as long as the run.
package struct RuleSettings {
  /// Session.sessionLifecycleExpiration: the maximum inactivity within a session (reference events 3.3).
  package var sessionTimeout = Milliseconds.zero
  /// General.defaultCurrentCampaignExpiration: the life of a campaign that names no expiry (reference events 2.3).
  package var defaultCampaignLife = Milliseconds.zero
  package var parameters = ParameterNames()
  package var fields = FieldNames()
  /// The codes and fields of events (General.eventCodes).
  package var codes: CodeTable
  package var augmentation = AugmentationSettings()
  /// Whether a mobile user id is generated for devices without one: identity is on and
  /// Recipient.enableAutoAnonymousTracking is set (reference decisions 6).
  package var generatesMobileUserIds = false
  /// Whether identity is on, so that the owners of devices are recorded.
  package var reconcilesIdentities = false
  /// LocationServices.enabled: whether the latest geocoded place of a device is written to its recipient.
  package var reportsLastLocation = false
  /// The policy for late records (Ingest.lateRecords).
  package var lateRecords = LateRecordPolicy.accept
  /// Recipient.consentRecords: whether consent records count (reference events 3.5).
  package var appliesConsent = false
  /// The list columns that no record may name (reference decisions 64).
  package var reservedColumns: Set<FoldedText> = []
  /// The attributes that the Privacy section withholds; nil if all are sent unchanged.
  package var withheld: WithheldAttributes?

  package init(codes: CodeTable) { self.codes = codes }
}

/// ParamFieldNames: the keys looked up in payloads and links.
package struct ParameterNames {
  package var currentCampaign = Text.empty
  package var campaignExpiresAt = Text.empty
  package var campaignValidFor = Text.empty
  package var callToAction = Text.empty
  /// The key of a time in seconds since 1970, which a README of the SDKs mentions but their code does not (reference
  /// events 2.3).
  package let campaignEndTimeStamp: Text = "CampaignEndTimeStamp"
  /// Configuration keys that a README shows as names in links (reference decisions 17).
  package let expiresAtInLinks: Text = "ParamCampaignExpiresAt"
  package let validForInLinks: Text = "ParamCampaignValidFor"
}

/// The names of automatic attributes on the wire (UBFFieldNames, General.eventCodes).
package struct FieldNames {
  private var names = InlineArray<19, Text>(repeating: .empty)

  package init() {}

  /// - Parameter name: Returns the name of a field as a text that lives as long as this value.
  package init(_ name: (AutomaticField) -> Text) {
    precondition(names.count == AutomaticField.allCases.count)
    for field in AutomaticField.allCases { self[field] = name(field) }
  }

  package subscript(field: AutomaticField) -> Text {
    @inline(__always) get { names[field.rawValue] }
    set { names[field.rawValue] = newValue }
  }
}

/// The automatic fields of a kind of events in order. An array would be retained and released for each event.
package struct FieldList {
  private var fields = InlineArray<19, AutomaticField>(repeating: .tags)
  package private(set) var count = 0

  package init(_ list: [AutomaticField]) {
    precondition(fields.count == AutomaticField.allCases.count)
    // Only the first of equal fields has an effect.
    for field in list where !(0..<count).contains(where: { fields[$0] == field }) {
      fields[count] = field
      count += 1
    }
  }

  @inline(__always)
  package subscript(place: Int) -> AutomaticField { fields[place] }
}

/// ``EventCodes`` by kind, with the codes converted to ``Text``.
package struct CodeTable {
  package struct Row {
    /// The code; empty if such events are not sent.
    package var code: Text
    package var fields: FieldList
  }

  private var rows: [Row]
  package var ofEveryEvent: FieldList
  package var keepsEmpty: Bool
  private var ofService: [Text]

  /// - Parameter text: Converts a string to a text that lives as long as the table.
  package init(_ codes: EventCodes, _ text: (String) -> Text) {
    rows = EventKind.allCases.map { Row(code: text(codes[$0].code), fields: FieldList(codes[$0].fields)) }
    ofEveryEvent = FieldList(codes.ofEveryEvent)
    keepsEmpty = codes.keepsEmpty
    ofService = codes.ofService.map(text)
  }

  package subscript(kind: EventKind) -> Row { rows[kind.rawValue] }

  /// Returns whether only the service creates events with the code. The service reads codes as numbers, so `" 093"` is
  /// 93.
  func isOfService(_ code: Text) -> Bool {
    guard !ofService.isEmpty else { return false }
    func isSpace(_ place: Int) -> Bool { code[place] == UInt8(ascii: " ") }
    var (start, end) = (0, code.count)
    while start < end, isSpace(end - 1) { end -= 1 }
    while start < end, isSpace(start) || code[start] == UInt8(ascii: "0") { start += 1 }
    return ofService.contains(code.slice(start, end))
  }
}

/// Augmentation and LocationServices (reference events 5).
package struct AugmentationSettings {
  /// Augmentation.augmentationTimeout: the maximum time for which an event is held for samples.
  package var timeout = Milliseconds.zero
  /// LocationServices.locationCacheLifespan: how long a sample is valid.
  package var sampleLife = Milliseconds.zero
  /// The plug-ins of Augmentation.augmentationPluginClasses in order; no location plug-ins if location is disabled.
  package var plugins: [any AugmentationPlugin] = [] {
    didSet {
      looksUpTables = plugins.contains { !$0.needsSamples }
      usesSamples = plugins.contains { $0.needsSamples }
    }
  }
  /// Whether a plug-in applies to devices without any sample.
  private(set) var looksUpTables = false
  /// Whether a plug-in uses locations or placemarks.
  package private(set) var usesSamples = false
}

/// The attributes that are removed, masked or hashed before an event leaves the rules (reference formats 2.6).
package struct WithheldAttributes: Sendable {
  private let leftOut: Set<Text>
  private let masked: Set<Text>
  private let hashed: Set<Text>
  private let hash: @Sendable (Text, Arena) -> Text

  /// - Parameter hash: Returns the replacement for a value.
  package init(
    leftOut: Set<Text>, masked: Set<Text>, hashed: Set<Text>, hash: @escaping @Sendable (Text, Arena) -> Text
  ) {
    self.leftOut = leftOut
    self.masked = masked
    self.hashed = hashed
    self.hash = hash
  }

  /// Removes, masks or hashes attributes of the draft, except core ones.
  func apply(to draft: inout EventDraft, in arena: Arena) {
    if !leftOut.isEmpty { draft.others.removeAll { leftOut.contains($0.name) } }
    for index in draft.others.indices {
      let name = draft.others[index].name
      if masked.contains(name) {
        draft.others[index].value = "***"
      } else if hashed.contains(name) {
        draft.others[index].value = hash(draft.others[index].value, arena)
      }
    }
  }
}
