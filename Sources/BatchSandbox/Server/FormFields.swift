import BatchFoundation

/// The fields of a form or query, decoded; nil for broken escapes or text that is not UTF-8.
package func parseForm(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
  var items: [(name: String, value: String)] = []
  for item in bytes.split(separator: UInt8(ascii: "&")) {
    let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = formText(parts[0]), let value = formText(parts.count == 2 ? parts[1] : []) else { return nil }
    items.append((name, value))
  }
  return items
}

private func formText(_ bytes: ArraySlice<UInt8>) -> String? {
  var decoded: [UInt8] = []
  decoded.reserveCapacity(bytes.count)
  var index = bytes.startIndex
  while index < bytes.endIndex {
    switch bytes[index] {
    case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
    case UInt8(ascii: "%"):
      guard index + 2 < bytes.endIndex, let high = Hexadecimal.value(of: bytes[index + 1]),
        let low = Hexadecimal.value(of: bytes[index + 2])
      else {
        return nil
      }
      decoded.append(high << 4 | low)
      index += 2
    case let byte: decoded.append(byte)
    }
    index += 1
  }
  return String(validating: decoded, as: UTF8.self)
}
