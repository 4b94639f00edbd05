import BatchFoundation

extension RecordDecoder {
  /// Reads `timestamp<TAB>deviceId<TAB>url`; further tabs belong to the URL (contract section 6, decision 9).
  ///
  /// Spaces around the line do not count, tabs do: an empty URL is a URL.
  mutating func decodePlainLink(_ line: Text, _ position: RecordPosition, _ record: inout Record) -> Rejection? {
    var start = 0
    var end = line.count
    while start < end, line[start] == 0x20 || line[start] == 0x0D { start += 1 }
    while end > start, line[end - 1] == 0x20 || line[end - 1] == 0x0D { end -= 1 }
    let text = line.slice(start, end)
    if let nul = text.bytes.firstIndex(of: 0) { return Rejection(reason: .nulCharacter, offset: start + nul) }
    guard let first = text.bytes.firstIndex(of: 0x09) else {
      return Rejection(reason: .missingField, field: text.isEmpty ? "timestamp" : "deviceId")
    }
    guard let second = text.bytes[(first + 1)...].firstIndex(of: 0x09) else {
      return Rejection(reason: .missingField, field: "url")
    }
    let device = text.slice(first + 1, second)
    if device.isEmpty { return Rejection(reason: .missingField, field: "deviceId") }
    let stamp = text.slice(0, first)
    guard let instant = Instant(exportText: stamp) ?? Instant(epoch: stamp) else {
      return Rejection(reason: .invalidTimestamp, field: "timestamp")
    }
    record = Record(device: device, timestamp: instant, type: .deepLink, kind: .deepLinks, position: position)
    record.subject = text.slice(second + 1, text.count)
    return nil
  }
}
