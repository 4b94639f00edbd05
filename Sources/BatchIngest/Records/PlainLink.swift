package import BatchFoundation

/// `timestamp<TAB>deviceId<TAB>url`: a line of a `deepLinks` input that is not JSON (reference decisions 9).
package struct PlainLink {
  package var device: Text
  package var timestamp: Instant
  package var url: Text

  /// Reads a line. Further tabs belong to the URL; white space at both ends does not (reference decisions 24).
  static func read(_ line: Text) -> Result<PlainLink, Rejection> {
    let text = line.trimmed
    if let nul = unsafe line.bytes.firstIndex(of: 0) { return .failure(Rejection(reason: .nulCharacter, offset: nul)) }
    guard let first = unsafe text.bytes.firstIndex(of: 0x09) else {
      return .failure(Rejection(reason: .missingField, field: text.isEmpty ? "timestamp" : "deviceId"))
    }
    guard let second = unsafe text.bytes[(first + 1)...].firstIndex(of: 0x09) else {
      return .failure(Rejection(reason: .missingField, field: "url"))
    }
    let device = text.slice(first + 1, second)
    if device.isEmpty { return .failure(Rejection(reason: .missingField, field: "deviceId")) }
    let stamp = text.slice(0, first)
    let epoch = stamp.isJSONNumber ? Instant(epoch: stamp) : nil
    guard let instant = Instant(exportText: stamp) ?? epoch else {
      return .failure(Rejection(reason: .invalidTimestamp, field: "timestamp"))
    }
    return .success(PlainLink(device: device, timestamp: instant, url: text.slice(second + 1, text.count)))
  }
}
