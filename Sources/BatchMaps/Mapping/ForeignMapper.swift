import BatchFoundation
package import BatchIngest
import BatchJSON

extension ForeignMap: RecordMap {
  package func makeMapper() -> any RecordMapper { ForeignMapper(self) }

  package var ofKeptRecords: any RecordMap {
    var map = self
    switch form {
    case .lines, .documents, .table, .store: map.form = .lines
    case .text: map.form = .text(.utf8)
    }
    return map
  }
}

/// Makes lines of foreign records, one thread's.
final class ForeignMapper: RecordMapper {
  private let map: ForeignMap
  private var reader = JSONLineReader()
  private var tape = JSONTape()
  private let writer = CanonicalWriter()
  /// A line of text as an object.
  private var wrapped = ByteBuffer(capacity: 1 << 10)

  private static let ordinaryTape = 1 << 22

  init(_ map: ForeignMap) { self.map = map }

  func map(_ record: UnsafeBufferPointer<UInt8>, into outcomes: inout MappedOutcomes) {
    tape.reset(keeping: Self.ordinaryTape)
    writer.reset()
    if let rejection = unsafe parse(record) { return outcomes.refuse(rejection) }
    let line = tape.view(at: 0)
    guard let each = map.each, let list = each.value(in: line, of: line), list.kind == .array else {
      return take(line, of: line, into: &outcomes)
    }
    let before = outcomes.count
    for element in list.elements {
      if element.kind == .object {
        take(element, of: line, into: &outcomes)
      } else {
        outcomes.refuse(Rejection(reason: .notAnObject))
      }
    }
    // Nothing is lost silently.
    if outcomes.count == before { outcomes.leaveOut("no elements in '\(each.text)'") }
  }

  private func parse(_ record: UnsafeBufferPointer<UInt8>) -> Rejection? {
    if let offset = unsafe firstInvalidUTF8(record) { return Rejection(reason: .invalidUTF8, offset: offset) }
    guard case .text = map.form else { return unsafe LineReader.parse(record, &reader, onto: &tape) }
    wrapped.removeAll()
    wrapped.append("{\"line\":")
    if let base = record.baseAddress {
      CanonicalJSON.appendString(unsafe Text(base: base, count: record.count).trimmed, to: &wrapped)
    }
    wrapped.append("}")
    return unsafe LineReader.parse(wrapped.bytes, &reader, onto: &tape)
  }

  private func take(_ record: JSONView, of line: JSONView, into outcomes: inout MappedOutcomes) {
    var isTaken = false
    for (number, rule) in map.rules.enumerated()
    where rule.conditions.allSatisfy({ $0.holds(in: record, of: line) }) {
      isTaken = true
      switch rule.outcome {
      case .leftOut(let reason): outcomes.leaveOut(reason)
      case .line(let object):
        let start = outcomes.bytes.count
        writer.write(object, of: record, in: line, to: &outcomes.bytes)
        outcomes.addLine(from: start, rule: number)
      }
      if !rule.continues { break }
    }
    guard !isTaken else { return }
    switch map.otherwise {
    case .quarantine: outcomes.refuse(Rejection(reason: .noRule))
    case .leaveOut: outcomes.leaveOut(QuarantineReason.noRule.rawValue)
    }
  }
}
