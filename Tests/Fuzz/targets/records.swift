import BatchFoundation
import BatchIngest
import EngageRules

extension FuzzTarget {
  /// Any line of any input: a record, or a rejection.
  static func records(_ input: UnsafeBufferPointer<UInt8>) {
    for kind in [InputKind.events, .notifications, .deepLinks] {
      var reader = LineReader(RecordVocabulary.engage, maxLineBytes: 4096)
      var head = RecordHead()
      for line in input.split(separator: 0x0A) {
        let position = RecordPosition(file: 0, line: 1)
        guard reader.read(UnsafeBufferPointer(rebasing: line), kind: kind, position: position, into: &head) == nil
        else {
          continue
        }
        precondition(!head.device.isEmpty)
        _ = head.device.description
      }
    }
  }
}
