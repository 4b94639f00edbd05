import BatchFoundation
package import BatchIngest

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
