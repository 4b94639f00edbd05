package import BatchFoundation
import DeltaDNAEvents

/// A line of `--findings-out`: an event that has findings, sent or not (reference deltadna 6).
package enum FindingsLine {
  /// Appends the line, without its end.
  package static func append(
    eventName: Text, userID: Text, eventUUID: Text, timestamp: Instant, findings: [EventFinding],
    to target: inout ByteBuffer
  ) {
    target.append(#"{"eventName":"#)
    CanonicalJSON.appendString(eventName, to: &target)
    target.append(#","userID":"#)
    CanonicalJSON.appendString(userID, to: &target)
    target.append(#","eventUUID":"#)
    CanonicalJSON.appendString(eventUUID, to: &target)
    target.append(#","eventTimestamp":""#)
    target.append(limit: Instant.eventTimestampBytes + 1) {
      timestamp.writeEventTimestamp(to: $0)
      return Instant.eventTimestampBytes
    }
    target.append(#"","findings":["#)
    for (index, finding) in findings.enumerated() {
      target.append(index == 0 ? #"{"id":""# : #",{"id":""#)
      var id = finding.id.rawValue
      id.withUTF8 { target.append($0) }
      target.append(#"","path":"#)
      finding.path.withUnsafeBufferPointer { path in
        let text = path.baseAddress.map { Text(base: $0, count: path.count) } ?? .empty
        CanonicalJSON.appendString(text, to: &target)
      }
      target.append("}")
    }
    target.append("]}")
  }
}
