import BatchFoundation
package import BatchIngest

/// Decodes Engage's lines for one thread.
final class EngageLineDecoder: LineDecoder {
  private var decoder = RecordDecoder()
  private var record = Record.blank

  var unknownFields: UnknownFields { decoder.unknown }

  func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    if let rejection = decoder.decode(object, of: line, into: &record) { return rejection }
    head.notes = decoder.fields.notes
    fill(&head)
    return nil
  }

  func decode(_ link: PlainLink, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    record = Record(
      device: link.device, timestamp: link.timestamp, type: .deepLink, kind: line.kind, position: line.position)
    record.subject = link.url
    fill(&head)
    return nil
  }

  func ignore(_ line: SourceLine, isTyped: Bool, into head: inout RecordHead) {
    let refused = record
    // Without an id, such a record changes nothing.
    record = Record(
      device: head.device, timestamp: head.timestamp, type: .setMobileUserId, kind: line.kind, position: line.position)
    (head.type, head.notes) = (record.type.rawValue, [])
    guard isTyped else { return }
    (record.deviceValues, record.mobileUserId) = (refused.deviceValues, refused.mobileUserId)
    (record.anonymousId, record.recipientId) = (refused.anonymousId, refused.recipientId)
    head.notes = decoder.fields.notes
  }

  private func fill(_ head: inout RecordHead) {
    head.device = record.device
    head.timestamp = record.timestamp
    head.type = record.type.rawValue
    head.isSample = record.type.isSample
    head.identity = nil
  }

  func forEachPerson(_ body: (PersonID.Kind, Text) -> Void) {
    if let id = record.recipientId { body(.recipient, id) }
    if let id = record.mobileUserId { body(.mobileUserID, id) }
    if let id = record.anonymousId { body(.mobileUserID, id) }
    switch record.type {
    case .identify:
      if let members = record.body?.members {
        for (_, value) in members { if let id = value.string { body(.user, id) } }
      }
    case .rawEvent:
      guard let attributes = record.body?.elements else { return }
      for attribute in attributes {
        guard let id = attribute["value"]?.string else { continue }
        switch attribute["name"]?.string {
        case CoreAttribute.recipientId.name: body(.recipient, id)
        case CoreAttribute.primaryUserId.name, CoreAttribute.anonymousId.name: body(.mobileUserID, id)
        default: break
        }
      }
    default: break
    }
  }

  var payloadBound: Int { record.payloadBound }

  func writePayload(at start: UnsafeMutableRawPointer) -> Int { unsafe record.writePayload(at: start) }
}

extension RecordVocabulary {
  /// The records that Engage's exports may contain (reference formats 3.3).
  package static var engage: RecordVocabulary {
    var engage = RecordVocabulary(RecordType.dictionary) { EngageLineDecoder() }
    // For a sample, only the coordinates, the place and the consent of a record are copied.
    unsafe engage.copySample = { payload, target in
      guard let source = payload.baseAddress else { return 0 }
      var record = Record.blank
      unsafe record.unpack(source)
      var sample = Record.blank
      sample.coordinates = record.coordinates
      sample.placemark = record.placemark
      (sample.use, sample.export) = (record.use, record.export)
      return unsafe sample.writePayload(at: target)
    }
    return engage
  }
}
