package import BatchFoundation

extension DeviceRules {
  /// Stores the sample in time order; samples in the same millisecond stay in line order.
  mutating func announceSample(_ record: Record) {
    switch record.type {
    case .location:
      guard let coordinates = record.coordinates else { return }
      let sample = LocationSamples.Coordinates(
        at: record.timestamp, latitude: coordinates.latitude, longitude: coordinates.longitude)
      state.samples.coordinates.insert(sample, at: state.samples.coordinates.place { $0.at <= sample.at })
    case .placemark:
      guard let placemark = record.placemark else { return }
      let place = LocationSamples.Place(
        at: record.timestamp, address: AddressText.text(placemark, in: arena), name: placemark.name)
      state.samples.places.insert(place, at: state.samples.places.place { $0.at <= place.at })
    default:
      return
    }
  }

  /// Reports a geocoded place for the recipient database; only a device's latest place is used (reference events 5.4).
  mutating func noteLocation(_ record: Record) {
    explainSample(at: record.timestamp)
    guard let placemark = record.placemark else { return }
    guard settings.reportsLastLocation else {
      explanation?.note("not written as the recipient's last known location (LocationServices.enabled = false)")
      return
    }
    output.locations.append(
      LastKnownLocation(
        device: state.device.description, mobileUserId: state.core[.primaryUserId].description,
        recipientId: state.core[.recipientId].description,
        address: AddressText.text(placemark, in: arena)?.description ?? "", at: record.timestamp))
  }

  /// Explains which events the current record's sample can serve.
  func explainSample(at instant: Instant) {
    guard settings.augmentation.usesSamples else {
      explanation?.note(
        "a sample that no plug-in uses (LocationServices.enabled, Augmentation.augmentationPluginClasses)")
      return
    }
    let first = Instant(milliseconds: max(0, instant.milliseconds - settings.augmentation.timeout.count))
    let last = min(instant + settings.augmentation.sampleLife, .last)
    explanation?.note(
      "a sample for events from \(first.rfc3339) (Augmentation.augmentationTimeout) to \(last.rfc3339) "
        + "(LocationServices.locationCacheLifespan), unless another sample takes precedence")
  }

  /// Keeps the samples that a future event, a held event or the end of a paused session may still need.
  mutating func pruneSamples() {
    guard var earliest = state.lastSeen ?? knownUntil else { return }
    if case .paused(let pause) = state.session { earliest = min(earliest, pause.at) }
    if let pause = state.heldSessionEvents.earliestPause { earliest = min(earliest, pause) }
    for event in state.held { earliest = min(earliest, event.draft.timestamp) }
    state.samples.keep(from: earliest)
  }
}

/// The recorded coordinates and geocoded places of a device, in time order (reference events 5.4).
package struct LocationSamples {
  package struct Coordinates {
    package var at: Instant
    package var latitude: Double
    package var longitude: Double
  }

  /// A formatted geocoded place; missing parts are nil.
  package struct Place {
    package var at: Instant
    package var address: Text?
    package var name: Text?
  }

  package var coordinates: [Coordinates] = []
  package var places: [Place] = []
}

extension LocationSamples {
  /// The sample that counts for an event, and when it became available to the event.
  package typealias Sample<Value> = (value: Value, readyAt: Instant)

  package func coordinates(for instant: Instant, _ settings: AugmentationSettings) -> Sample<Coordinates>? {
    Self.find(coordinates, \.at, instant, settings)
  }

  package func place(for instant: Instant, _ settings: AugmentationSettings) -> Sample<Place>? {
    Self.find(places, \.at, instant, settings)
  }

  /// Returns the latest sample up to the instant if it is still valid, otherwise the first sample after the instant and
  /// within the timeout; nil if there is neither.
  private static func find<Value>(
    _ samples: [Value], _ at: (Value) -> Instant, _ instant: Instant, _ settings: AugmentationSettings
  ) -> Sample<Value>? {
    let next = samples.place { at($0) <= instant }
    if next > 0, instant <= at(samples[next - 1]) + settings.sampleLife {
      return (samples[next - 1], readyAt: instant)
    }
    guard next < samples.count, at(samples[next]) <= instant + settings.timeout else { return nil }
    return (samples[next], readyAt: at(samples[next]))
  }

  /// Drops the samples that no event from `earliest` on can need; the last sample at or before that time is kept.
  package mutating func keep(from earliest: Instant) {
    Self.drop(&coordinates, \.at, earliest)
    Self.drop(&places, \.at, earliest)
  }

  private static func drop<Value>(_ samples: inout [Value], _ at: (Value) -> Instant, _ earliest: Instant) {
    guard let last = samples.lastIndex(where: { at($0) <= earliest }) else { return }
    samples.removeFirst(last)
  }
}
