import BatchFoundation
import BatchIngest

/// Reads the fields of single lines as records (reference formats 3.3); keeps its working memory from line to line.
struct RecordDecoder: ~Copyable {
  var fields = RecordFields(RecordType.self)
  private(set) var unknown = UnknownFields()

  /// - Parameter record: means nothing when the line is rejected.
  mutating func decode(_ object: JSONView, of line: SourceLine, into record: inout Record) -> Rejection? {
    unknown.drop()
    fields.read(object, unknown: &unknown)
    let faults = build(line.kind, line.position, &record)
    if let rejection = faults.first { return rejection }
    unknown.commit()
    return nil
  }
}
