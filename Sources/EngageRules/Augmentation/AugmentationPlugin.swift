package import BatchFoundation

/// Adds attributes to events from data recorded around them (reference events 5.1). Plug-ins run in the configured
/// order. A synchronous plug-in that is not ready blocks all that follow it; an asynchronous one is skipped until it is
/// ready or the event's time is up.
package protocol AugmentationPlugin: Sendable {
  /// Whether the plug-ins that follow wait for this one (the SDKs' `processSyncronously`).
  var isSynchronous: Bool { get }

  /// Whether the plug-in ignores devices without recorded samples; true by default.
  var needsSamples: Bool { get }

  /// Returns whether the event lacks the plug-in's input, so that the plug-in waits for earlier ones; false by default.
  func lacksInput(in draft: EventDraft) -> Bool

  /// Returns when the event could receive the plug-in's attributes, computed from the samples alone and never from a
  /// clock.
  func readiness(of draft: EventDraft, _ samples: LocationSamples, _ settings: AugmentationSettings) -> Readiness

  /// Adds the plug-in's attributes; an attribute that already exists keeps its value.
  func apply(
    to draft: inout EventDraft, _ samples: LocationSamples, _ settings: RuleSettings, in arena: Arena)
}

extension AugmentationPlugin {
  package var needsSamples: Bool { true }

  package func lacksInput(in draft: EventDraft) -> Bool { false }
}

package enum Readiness: Equatable, Sendable {
  /// No record of the device has what the plug-in needs, so it neither holds the event nor adds anything to it
  /// (reference decisions 20).
  case notConcerned
  case ready(at: Instant)
  /// The plug-in's input does not arrive within the event's time.
  case never
}

/// Adds `Latitude` and `Longitude` of the recorded position.
package struct CoordinatesPlugin: AugmentationPlugin {
  package init() {}

  package var isSynchronous: Bool { true }

  package func readiness(
    of draft: EventDraft, _ samples: LocationSamples, _ settings: AugmentationSettings
  ) -> Readiness {
    if samples.coordinates.isEmpty { return .notConcerned }
    return samples.coordinates(for: draft.timestamp, settings).map { .ready(at: $0.readyAt) } ?? .never
  }

  package func apply(
    to draft: inout EventDraft, _ samples: LocationSamples, _ settings: RuleSettings, in arena: Arena
  ) {
    guard let sample = samples.coordinates(for: draft.timestamp, settings.augmentation) else { return }
    draft.add(settings.fields[.latitude], arena.text(CoordinateText.text(sample.value.latitude)))
    draft.add(settings.fields[.longitude], arena.text(CoordinateText.text(sample.value.longitude)))
  }
}

/// Adds `Location Address` (synchronous on iOS, asynchronous on Android) or `Location Name` of the geocoded place.
package struct PlacemarkPlugin: AugmentationPlugin {
  package let isSynchronous: Bool
  private let field: AutomaticField

  package static func address(isSynchronous: Bool) -> PlacemarkPlugin {
    PlacemarkPlugin(isSynchronous: isSynchronous, field: .locationAddress)
  }

  package static var name: PlacemarkPlugin { PlacemarkPlugin(isSynchronous: false, field: .locationName) }

  package func readiness(
    of draft: EventDraft, _ samples: LocationSamples, _ settings: AugmentationSettings
  ) -> Readiness {
    if samples.places.isEmpty { return .notConcerned }
    return samples.place(for: draft.timestamp, settings).map { .ready(at: $0.readyAt) } ?? .never
  }

  package func apply(
    to draft: inout EventDraft, _ samples: LocationSamples, _ settings: RuleSettings, in arena: Arena
  ) {
    guard let place = samples.place(for: draft.timestamp, settings.augmentation)?.value,
      let text = field == .locationName ? place.name : place.address
    else { return }
    draft.add(settings.fields[field], text)
  }
}

/// Formats coordinates: shortest decimals, at most ten fraction digits, rounded half away from zero (reference
/// decisions 20).
enum CoordinateText {
  static let fractionDigits = 10

  static func text(_ value: Double) -> String {
    if value == 0 { return "0" }
    var (digits, point) = ECMAScriptNumber.shortestDigits(abs(value))
    let kept = point + fractionDigits
    if kept < digits.utf8.count {
      guard kept >= 0 else { return "0" }
      var rounded = Array(digits.utf8.prefix(kept))
      if Array(digits.utf8)[kept] >= UInt8(ascii: "5") {
        var place = kept - 1
        while place >= 0, rounded[place] == UInt8(ascii: "9") {
          rounded[place] = UInt8(ascii: "0")
          place -= 1
        }
        if place >= 0 {
          rounded[place] += 1
        } else {
          rounded.insert(UInt8(ascii: "1"), at: 0)
          point += 1
        }
      }
      while rounded.last == UInt8(ascii: "0") { rounded.removeLast() }
      if rounded.isEmpty { return "0" }
      digits = String(decoding: rounded, as: UTF8.self)
    }
    return (value < 0 ? "-" : "") + ECMAScriptNumber.plain(digits, point)
  }
}

/// Formats `City, State ZIP, Country (CC)`; missing parts are omitted with their separators (reference events 5.4).
enum AddressText {
  static func text(_ place: Placemark, in arena: Arena) -> Text? {
    let region = joined([place.state?.description, place.postalCode?.description], " ")
    let code = place.countryCode.flatMap { $0.isEmpty ? nil : "(\($0.description))" }
    let country = joined([place.country?.description, code], " ")
    let whole = joined([place.city?.description, region, country], ", ")
    return whole.map { arena.text($0) }
  }

  private static func joined(_ parts: [String?], _ separator: String) -> String? {
    let present = parts.compactMap { $0 }.filter { !$0.isEmpty }
    return present.isEmpty ? nil : present.joined(separator: separator)
  }
}

/// Adds the columns of the table row that an attribute's value selects, such as the weather for a location name. It
/// needs configuration only, no code; the table is loaded once, before any record is read.
package struct LookupTablePlugin: AugmentationPlugin {
  /// The attribute whose value is looked up; may be a core attribute.
  package let key: String
  /// The attribute name of each column.
  package let attributes: [String]
  package let rows: KeyedRows

  package init(key: String, attributes: [String], rows: KeyedRows) {
    self.key = key
    self.attributes = attributes
    self.rows = rows
  }

  package var isSynchronous: Bool { false }

  package var needsSamples: Bool { false }

  package func lacksInput(in draft: EventDraft) -> Bool { keyValue(in: draft) == nil }

  package func readiness(
    of draft: EventDraft, _ samples: LocationSamples, _ settings: AugmentationSettings
  ) -> Readiness { .ready(at: draft.timestamp) }

  package func apply(
    to draft: inout EventDraft, _ samples: LocationSamples, _ settings: RuleSettings, in arena: Arena
  ) {
    guard let value = keyValue(in: draft) else { return }
    rows.forEachText(of: value) { column, text in
      unsafe draft.add(arena.text(attributes[column]), arena.copy(text.bytes))
    }
  }

  private func keyValue(in draft: EventDraft) -> Text? {
    var key = key
    return key.withUTF8 { bytes in
      unsafe draft.value(of: bytes.baseAddress.map { unsafe Text(base: $0, count: bytes.count) } ?? .empty)
    }
  }
}

/// Runs the plug-ins for one event, using recorded samples instead of waiting (reference events 5.2).
enum Augmentation {
  /// Returns whether the samples known now suffice for all plug-ins.
  static func isComplete(_ draft: EventDraft, _ samples: LocationSamples, _ settings: RuleSettings) -> Bool {
    !settings.augmentation.plugins.contains { $0.readiness(of: draft, samples, settings.augmentation) == .never }
  }

  /// Applies the plug-ins that are ready within the event's time; marks the draft as expired if any is not.
  ///
  /// Follows the loop of the SDKs, but jumps to the instants at which something changes instead of polling. A plug-in
  /// that is ready is applied and removed from the list. An asynchronous one that is not ready is skipped; for a
  /// synchronous one, the loop waits. A plug-in that lacks its input is also skipped while an earlier plug-in may still
  /// add the input.
  static func apply(to draft: inout EventDraft, _ samples: LocationSamples, _ settings: RuleSettings, in arena: Arena) {
    var pending: [(plugin: any AugmentationPlugin, readyAt: Instant?)] = []
    for plugin in settings.augmentation.plugins {
      switch plugin.readiness(of: draft, samples, settings.augmentation) {
      case .notConcerned: continue
      case .ready(let instant): pending.append((plugin, instant))
      case .never: pending.append((plugin, nil))
      }
    }
    var now = draft.timestamp
    var index = 0
    var passedOver = 0
    while !pending.isEmpty {
      if index >= pending.count { index = 0 }
      let (plugin, readyAt) = pending[index]
      if let readyAt, readyAt <= now, index == 0 || !plugin.lacksInput(in: draft) {
        plugin.apply(to: &draft, samples, settings, in: arena)
        pending.remove(at: index)
        passedOver = 0
      } else if plugin.isSynchronous {
        guard let readyAt else { break }
        now = readyAt
      } else {
        index += 1
        passedOver += 1
        guard passedOver == pending.count else { continue }
        guard let next = pending.compactMap(\.readyAt).filter({ $0 > now }).min() else { break }
        now = next
        passedOver = 0
      }
    }
    draft.expired = !pending.isEmpty
  }
}
