package import EngageModel

/// What is known of a device's records before all of them were handed over.
package struct Outlook {
  /// The time of its last record in this run.
  package fileprivate(set) var last: Instant
  /// Its locations and placemarks, in order.
  package fileprivate(set) var samples: [Record] = []
}

/// The outlooks of the devices of a bucket that comes in slices. Samples live as long as this.
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
      var outlook = devices[name] ?? Outlook(last: last.timestamp)
      outlook.last = last.timestamp
      for entry in device.records where entry.type == .location || entry.type == .placemark {
        let copy = arena.allocate(entry.byteCount)
        copy.copyMemory(from: entry.key.packed, byteCount: entry.byteCount)
        outlook.samples.append(RecordUnpacker.unpack(copy))
      }
      devices[name] = outlook
    }
  }
}
