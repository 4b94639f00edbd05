package import BatchFoundation

/// Recorded coordinates and geocoded places of a device, in time order (reference events 5.4).
package struct LocationSamples {
  package struct Coordinates {
    package var at: Instant
    package var latitude: Double
    package var longitude: Double
  }

  /// A geocoded place, formatted; parts without text are nil.
  package struct Place {
    package var at: Instant
    package var address: Text?
    package var name: Text?
  }

  package var coordinates: [Coordinates] = []
  package var places: [Place] = []

  package init() {}
}

/// The sample that counts for an event, and when the event could have had it.
package struct Sample<Value> {
  package var value: Value
  package var readyAt: Instant
}

extension LocationSamples {
  package func coordinates(for instant: Instant, _ settings: AugmentationSettings) -> Sample<Coordinates>? {
    Self.find(coordinates, \.at, instant, settings)
  }

  package func place(for instant: Instant, _ settings: AugmentationSettings) -> Sample<Place>? {
    Self.find(places, \.at, instant, settings)
  }

  /// The latest sample up to the instant if it is not older than its life, else the first one within the timeout.
  private static func find<Value>(
    _ samples: [Value], _ at: (Value) -> Instant, _ instant: Instant, _ settings: AugmentationSettings
  ) -> Sample<Value>? {
    let next = samples.place { at($0) <= instant }
    if next > 0, instant <= at(samples[next - 1]) + settings.sampleLife {
      return Sample(value: samples[next - 1], readyAt: instant)
    }
    guard next < samples.count, at(samples[next]) <= instant + settings.timeout else { return nil }
    return Sample(value: samples[next], readyAt: at(samples[next]))
  }

  /// Drops what no event from the instants on can ask for: per instant the sample before it and all after it.
  package mutating func keep(from earliest: Instant) {
    Self.drop(&coordinates, \.at, earliest)
    Self.drop(&places, \.at, earliest)
  }

  private static func drop<Value>(_ samples: inout [Value], _ at: (Value) -> Instant, _ earliest: Instant) {
    guard let last = samples.lastIndex(where: { at($0) <= earliest }) else { return }
    samples.removeFirst(last)
  }
}
