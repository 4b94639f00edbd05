/// Rows of strings that are looked up by key, such as a user's look-up table that is consulted for each event. All rows
/// share one buffer, so a large table takes little more space than its file.
public struct KeyedRows: Sendable {
  /// The number of strings per row, not counting the key.
  public let columns: Int
  public private(set) var count = 0
  /// All rows: the key and each column's value, with length prefixes.
  private var bytes: [UInt8] = []
  /// For each slot, the offset of its row plus one, or 0 if it is free. At least half of the slots are free, so that
  /// searches are short.
  private var slots: [UInt32] = []

  /// - Parameter capacity: the estimated size of all rows in bytes.
  public init(columns: Int, capacity: Int = 0) {
    self.columns = columns
    bytes.reserveCapacity(capacity)
  }

  /// Adds a row unless a row with the same key exists.
  ///
  /// - Parameter texts: the columns' values; an empty string means no value.
  /// - Returns: false if the key exists, or if all rows together would exceed 4 GiB.
  public mutating func insert(_ key: String, _ texts: [String]) -> Bool {
    if (count + 1) * 2 > slots.count { grow() }
    let slot = key.withText { self.slot(of: $0) }
    guard slots[slot] == 0, let place = UInt32(exactly: bytes.count + 1) else { return false }
    slots[slot] = place
    count += 1
    append(key)
    for column in 0..<columns { append(column < texts.count ? texts[column] : "") }
    return true
  }

  /// Calls `body` for each nonempty value in a row, in column order. The texts are valid only during the call.
  public func forEachText(of key: Text, _ body: (_ column: Int, _ text: Text) -> Void) {
    guard count > 0 else { return }
    let row = slots[slot(of: key)]
    guard row > 0 else { return }
    unsafe bytes.withUnsafeBufferPointer { bytes in
      var at = Int(row) - 1
      _ = unsafe Self.text(bytes, &at)
      for column in 0..<columns {
        let text = unsafe Self.text(bytes, &at)
        if !text.isEmpty { body(column, text) }
      }
    }
  }

  private mutating func append(_ text: String) {
    var rest = text.utf8.count
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
    bytes.append(contentsOf: text.utf8)
  }

  /// Reads the text at `at` and moves `at` past it.
  private static func text(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> Text {
    var count = 0
    var shift = 0
    while unsafe bytes[at] >= 0x80 {
      count |= unsafe Int(bytes[at] & 0x7F) << shift
      shift += 7
      at += 1
    }
    count |= unsafe Int(bytes[at]) << shift
    at += 1
    defer { at += count }
    guard count > 0, let base = bytes.baseAddress else { return .empty }
    return unsafe Text(base: base + at, count: count)
  }

  /// Returns the slot of a key or, if it has none, the free slot where it would go. There is always a free slot.
  private func slot(of key: Text) -> Int {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      var slot = key.hashValue & (slots.count - 1)
      while slots[slot] > 0 {
        var at = Int(slots[slot]) - 1
        if unsafe Self.text(bytes, &at) == key { break }
        slot = (slot + 1) & (slots.count - 1)
      }
      return slot
    }
  }

  private mutating func grow() {
    let places = slots
    slots = Array(repeating: 0, count: max(8, places.count * 2))
    for place in places where place > 0 {
      let slot = unsafe bytes.withUnsafeBufferPointer { bytes -> Int in
        var at = Int(place) - 1
        return unsafe self.slot(of: Self.text(bytes, &at))
      }
      slots[slot] = place
    }
  }
}
