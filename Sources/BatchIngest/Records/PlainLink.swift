import BatchFoundation
import BatchJSON

extension RecordDecoder {
  /// Reads `timestamp<TAB>deviceId<TAB>url`; further tabs within the line belong to the URL (reference decisions 9).
  ///
  /// White space at both ends of the line is no part of it, tabs included (reference decisions 24).
  mutating func decodePlainLink(_ line: Text, _ position: RecordPosition, _ record: inout Record) -> Rejection? {
    let text = line.trimmed
    if let nul = line.bytes.firstIndex(of: 0) { return Rejection(reason: .nulCharacter, offset: nul) }
    guard let first = text.bytes.firstIndex(of: 0x09) else {
      return Rejection(reason: .missingField, field: text.isEmpty ? "timestamp" : "deviceId")
    }
    guard let second = text.bytes[(first + 1)...].firstIndex(of: 0x09) else {
      return Rejection(reason: .missingField, field: "url")
    }
    let device = text.slice(first + 1, second)
    if device.isEmpty { return Rejection(reason: .missingField, field: "deviceId") }
    let stamp = text.slice(0, first)
    let epoch = stamp.isJSONNumber ? Instant(epoch: stamp) : nil
    guard let instant = Instant(exportText: stamp) ?? epoch else {
      return Rejection(reason: .invalidTimestamp, field: "timestamp")
    }
    record = Record(device: device, timestamp: instant, type: .deepLink, kind: .deepLinks, position: position)
    record.subject = text.slice(second + 1, text.count)
    return nil
  }
}
