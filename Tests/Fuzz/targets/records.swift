import BatchFoundation
import BatchIngest
import EngageEvents

/// Any line of any input: a record, or a rejection.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  for kind in [InputKind.events, .notifications, .deepLinks] {
    var reader = LineReader(EngageVocabulary(), maxLineBytes: 4096)
    var head = RecordHead()
    for line in UnsafeBufferPointer(start: start, count: count).split(separator: 0x0A) {
      let position = RecordPosition(file: 0, line: 1)
      guard reader.read(UnsafeBufferPointer(rebasing: line), kind: kind, position: position, into: &head) == nil else {
        continue
      }
      precondition(!head.device.isEmpty)
      _ = head.device.description
    }
  }
  return 0
}
