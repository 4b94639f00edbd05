import BatchFoundation

extension DeviceRules {
  /// Keeps location and placemark records in time order; later lines of the same millisecond come after.
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
        at: record.timestamp, address: AddressText.text(placemark, in: arena), name: placemark[.name])
      state.samples.places.insert(place, at: state.samples.places.place { $0.at <= place.at })
    default:
      return
    }
  }

  /// A geocoded place also goes to the recipient database, the newest of a device only (reference events 5.4).
  mutating func noteLocation(_ record: Record) {
    explainSample(at: record.timestamp)
    guard let placemark = record.placemark else { return }
    guard settings.reportsLastLocation else {
      explanation?.note("not the last known location of the recipient (LocationServices.enabled = false)")
      return
    }
    output.locations.append(
      LastKnownLocation(
        device: state.device.description, mobileUserId: state.core[.primaryUserId].description,
        recipientId: state.core[.recipientId].description,
        address: AddressText.text(placemark, in: arena)?.description ?? "", at: record.timestamp))
  }

  /// Says which events the sample of the record at hand can be for.
  func explainSample(at instant: Instant) {
    guard settings.augmentation.usesSamples else {
      explanation?.note(
        "a sample that no plug-in asks for (LocationServices.enabled, Augmentation.augmentationPluginClasses)")
      return
    }
    let first = Instant(milliseconds: max(0, instant.milliseconds - settings.augmentation.timeout.count))
    let last = min(instant + settings.augmentation.sampleLife, .last)
    explanation?.note(
      "a sample for events from \(first.rfc3339) (Augmentation.augmentationTimeout) to \(last.rfc3339) "
        + "(LocationServices.locationCacheLifespan), unless another is nearer")
  }

  /// Keeps the samples that an event to come, a held one or the end of a paused session may still ask for.
  mutating func pruneSamples() {
    guard var earliest = state.lastSeen ?? knownUntil else { return }
    if case .paused(let pause) = state.session { earliest = min(earliest, pause.at) }
    if let pause = state.waiting.earliestPause { earliest = min(earliest, pause) }
    for event in state.held { earliest = min(earliest, event.draft.timestamp) }
    state.samples.keep(from: earliest)
  }
}
