package import BatchFoundation

/// What is known of a device's records before all of them were handed over.
package struct Outlook {
  /// The time of its last record in this run.
  package fileprivate(set) var last: Instant
  fileprivate var places: [RecordKey] = []

  /// Its locations and placemarks, in order: time and place of each, and nothing else.
  package var samples: some Sequence<Record> { places.lazy.map { RecordUnpacker.unpack($0.packed) } }
}

/// The outlooks of the devices of a bucket that comes in slices; their samples live as long as this.
package final class Outlooks {
  private let arena = Arena()
  private var devices: [ByteText: Outlook] = [:]

  var isEmpty: Bool { devices.isEmpty }

  /// Nil for a device without records.
  package func of(_ device: Text) -> Outlook? { devices[ByteText(device.description)] }

  /// Takes a slice in; slices come in the order of time.
  func add(_ slice: [DeviceRecords]) {
    for device in slice {
      guard let last = device.records.last else { continue }
      let name = ByteText(device.device.description)
      var outlook = devices.removeValue(forKey: name) ?? Outlook(last: last.timestamp)
      outlook.last = last.timestamp
      for entry in device.records where entry.type.isSample {
        outlook.places.append(keep(entry))
      }
      devices[name] = outlook
    }
  }

  private func keep(_ entry: RecordEntry) -> RecordKey {
    let record = entry.record
    var sample = Record(
      device: .empty, timestamp: record.timestamp, type: record.type, kind: record.kind, position: record.position)
    sample.coordinates = record.coordinates
    sample.placemark = record.placemark
    let target = arena.allocate(RecordPacker.bound(sample))
    _ = RecordPacker.pack(sample, digest: entry.digest, device: DeviceHash(value: 0), at: target)
    return RecordKey(timestamp: entry.key.timestamp, packed: target)
  }
}

/// What is known of a device's records before all of them were handed over.
package struct DeviceLookahead {
  /// The time of its last record in this run.
  package var last: Instant
  /// Its samples in order, in the first slice; none in later ones, whose earlier state has them.
  package var samples: [RecordEntry]

  package init(last: Instant, samples: [RecordEntry]) {
    self.last = last
    self.samples = samples
  }
}
