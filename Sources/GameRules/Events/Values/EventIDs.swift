import BatchFoundation

/// Makes event ids from record keys (reference deltadna 5), for many events together, which takes a fraction of the
/// time. Until then the record's key takes the place of the event's id.
package final class EventIDs {
  /// Nil if the processor is not faster with several ids than with one.
  private let lanes = SHA1Lanes.widths.first.map(SHA1Lanes.init)
  private var waiting: [(event: Int, number: Int)] = []
  private var laid: [Int] = []
  private var name = ByteBuffer(capacity: 64)

  package init() {}

  /// - Parameters:
  ///   - event: the index of the event in the list passed to ``make(in:)``.
  ///   - number: the number of the event among those of its name from the same record, from 0.
  package func add(event: Int, number: Int) { waiting.append((event, number)) }

  /// Gives all added events their ids.
  package func make(in events: inout [GameEvent]) {
    var first = 0
    while first < waiting.count {
      let end = min(first + SHA1Lanes.count, waiting.count)
      lanes?.reset()
      laid.removeAll(keepingCapacity: true)
      for (event, number) in waiting[first..<end] {
        guard case .key(let key) = events[event].eventUUID else { continue }
        if lay(key, events[event].name, number) {
          laid.append(event)
        } else {
          events[event].eventUUID = .key(key.uuid(events[event].name, number: number))
        }
      }
      lanes?.hash()
      for (lane, event) in laid.enumerated() {
        guard let (high, low) = lanes?.leadingWords(lane) else { continue }
        events[event].eventUUID = .key(NameUUID(hashed: high, low))
      }
      first = end
    }
    waiting.removeAll(keepingCapacity: true)
  }

  /// Puts an id's input into the next lane; returns false if it does not fit.
  private func lay(_ key: NameUUID, _ eventName: Text, _ number: Int) -> Bool {
    guard let lanes, number < 10 else { return false }
    name.removeAll()
    name.append(eventName)
    name.append(UInt8(ascii: "#"))
    name.append(UInt8(ascii: "0") + UInt8(number))
    return unsafe withUnsafeBytes(of: (key.high.bigEndian, key.low.bigEndian)) {
      unsafe lanes.add($0, UnsafeRawBufferPointer(name.bytes))
    }
  }
}
