/// Rows of texts, each found by its key: a table that somebody wrote, asked for each event.
///
/// All of it lies in one piece of memory, so that a large table takes little more than its file.
public struct KeyedRows: Sendable {
  /// How many texts a row has beside its key.
  public let columns: Int
  public private(set) var count = 0
  /// Row after row: the key and each column's text, with their length in front.
  private var bytes: [UInt8] = []
  /// Where the row begins, plus one; 0 where the slot is free. Half of them are, so that a search is short.
  private var slots: [UInt32] = []

  /// - Parameter capacity: bytes that the rows will take, more or less.
  public init(columns: Int, capacity: Int = 0) {
    self.columns = columns
    bytes.reserveCapacity(capacity)
  }

  /// Adds a row, unless there is one with its key.
  ///
  /// - Parameter texts: of the columns; an empty one stands for none.
  /// - Returns: whether it was added. All rows together may have 4 GiB.
  public mutating func insert(_ key: String, _ texts: [String]) -> Bool {
    if (count + 1) * 2 > slots.count { grow() }
    var key = key
    let slot = key.withUTF8 { key -> Int in
      unsafe self.slot(of: Text(base: key.baseAddress ?? Text.empty.base, count: key.count))
    }
    guard slots[slot] == 0, let place = UInt32(exactly: bytes.count + 1) else { return false }
    slots[slot] = place
    count += 1
    append(key)
    for column in 0..<columns { append(column < texts.count ? texts[column] : "") }
    return true
  }

  /// Hands the texts of a row to `body`, those that are there, in the order of their columns.
  ///
  /// - Parameter body: the texts live for the call only.
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

  /// The text that begins there; `at` moves behind it.
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

  /// The slot of a key, or the free one in which it would be. There are free ones.
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
