import BatchFoundation
package import BatchIngest

extension ForeignMap: RecordMap {
  package func makeCutter(of path: FilePath, _ options: IngestOptions) -> (any RecordCutter)? {
    let longest = options.maxLineBytes
    return switch form {
    case .lines, .text(.utf8): nil
    case .text(let encoding): TextCutter(encoding, longest: longest)
    case .documents(let encoding): DocumentCutter(encoding, longest: longest)
    case .table(let form): RowCutter(form, longest: longest)
    case .store(let jsonColumns): SDKStoreCutter(of: path, jsonColumns: jsonColumns, options)
    }
  }

  package var opensFiles: Bool { if case .store = form { true } else { false } }

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

/// Maps foreign records to lines. Not thread-safe: each thread has its own mapper.
final class ForeignMapper: RecordMapper {
  let map: ForeignMap
  private let plan: MapPlan
  let values: RecordValues
  let writer: CanonicalWriter
  private var reader = JSONReader()
  private var tape = JSONTape()
  /// The parsed values of a record that is JSON in a string, or of a line before the JSON in its strings is parsed.
  private var inner = JSONTape(capacity: 1 << 10)
  /// A line of plain text as an object, or a line of JSON with the JSON in its strings parsed.
  private var wrapped = ByteBuffer(capacity: 1 << 10)
  private var json = EmbeddedJSON()

  private static let ordinaryTape = 1 << 22

  /// The record that was mapped last, with all elements of `each`; nil if it was unreadable.
  private(set) var last: JSONView?
  /// The line in which the last record was.
  var whole: JSONView { tape.view(at: 0) }

  init(_ map: ForeignMap) {
    self.map = map
    plan = MapPlan(map)
    values = RecordValues(plan.outline)
    writer = CanonicalWriter(plan, values, decimal: map.decimal)
  }

  func map(_ record: UnsafeBufferPointer<UInt8>, into outcomes: inout MappedOutcomes) {
    last = nil
    values.texts.reset()
    let line: JSONView
    switch unsafe read(record) {
    case .success(let record): (last, line) = record
    case .failure(let rejection):
      guard rejection.reason == .missingField, let message = otherMessage else { return outcomes.refuse(rejection) }
      return outcomes.leaveOut("a message of type \(message), which contains no record")
    }
    guard let record = last else { return }
    values.read(record, of: line)
    guard let each = map.each, let list = plan.each.flatMap({ values.content(of: $0)?.list }), list.kind == .array
    else {
      return take(of: line, into: &outcomes)
    }
    let before = outcomes.count
    writer.element = 0
    for element in list.elements.lazy.map(\.item) {
      writer.element += 1
      if element.kind == .object {
        values.read(element, of: line)
        take(of: line, into: &outcomes)
      } else {
        outcomes.refuse(Rejection(reason: .notAnObject))
      }
    }
    // Each record must have an outcome.
    if outcomes.count == before { outcomes.leaveOut("no elements in '\(each.text)'") }
  }

  /// Returns the record in a line, and the object that `^` refers to: the line or, with `each`, the same record, whose
  /// array contains the elements.
  func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<(record: JSONView, line: JSONView), Rejection> {
    tape.reset(keeping: Self.ordinaryTape)
    if let rejection = unsafe parse(bytes) { return .failure(rejection) }
    return innerRecord(of: whole).map { ($0, map.each == nil ? whole : $0) }
  }

  /// The type of the current line if it is a message that Singer or Airbyte writes between records; nil for other
  /// lines.
  private var otherMessage: Text? {
    guard case .member(let name)? = map.record?.steps.first, name.elementsEqual("record".utf8),
      let type = Array("type".utf8).withText({ tape.view(at: 0)[$0] })?.string
    else { return nil }
    return Self.otherMessages.contains(type.description) ? type : nil
  }

  /// The types of messages without records.
  static let otherMessages: Set = [
    "SCHEMA", "STATE", "ACTIVATE_VERSION", "LOG", "TRACE", "CATALOG", "SPEC", "CONTROL", "CONNECTION_STATUS",
  ]

  /// Returns the object at the record path, which may be JSON in a string; without a path, the line itself.
  private func innerRecord(of line: JSONView) -> Result<JSONView, Rejection> {
    guard let path = map.record else { return .success(line) }
    guard let view = path.value(in: line, of: line, values.texts), !view.isNull else {
      return .failure(Rejection(reason: .missingField, field: path.text))
    }
    if view.kind == .object { return .success(view) }
    guard let text = view.string else { return .failure(Rejection(reason: .notAnObject, field: path.text)) }
    inner.reset(keeping: Self.ordinaryTape)
    if var rejection = unsafe LineReader.parse(text.bytes, &reader, onto: &inner) {
      rejection.field = path.text
      return .failure(rejection)
    }
    return .success(inner.view(at: 0))
  }

  private func parse(_ record: UnsafeBufferPointer<UInt8>) -> Rejection? {
    if let offset = unsafe firstInvalidUTF8(record) { return Rejection(reason: .invalidUTF8, offset: offset) }
    wrapped.removeAll()
    guard case .text = map.form else {
      if map.jsonMembers.isEmpty { return unsafe LineReader.parse(record, &reader, onto: &tape) }
      inner.reset(keeping: Self.ordinaryTape)
      if let rejection = unsafe LineReader.parse(record, &reader, onto: &inner) { return rejection }
      for (name, value) in inner.view(at: 0).members {
        wrapped.append(wrapped.count == 0 ? "{" : ",")
        CanonicalJSON.appendString(name, to: &wrapped)
        wrapped.append(":")
        let isJSON = map.jsonMembers.contains { $0.withText { $0 == name } }
        if isJSON, let text = value.string, unsafe json.append(text.bytes, to: &wrapped) { continue }
        CanonicalJSON.append(value, to: &wrapped)
      }
      wrapped.append(wrapped.count == 0 ? "{}" : "}")
      return unsafe LineReader.parse(wrapped.bytes, &reader, onto: &tape)
    }
    wrapped.append("{\"line\":")
    if let base = record.baseAddress {
      CanonicalJSON.appendString(unsafe Text(base: base, count: record.count).trimmed, to: &wrapped)
    }
    wrapped.append("}")
    return unsafe LineReader.parse(wrapped.bytes, &reader, onto: &tape)
  }

  /// Applies the rules to the current record.
  private func take(of line: JSONView, into outcomes: inout MappedOutcomes) {
    var place = plan.graph.first
    var isTaken = false
    while let number = plan.graph.rule(from: place, values) {
      isTaken = true
      place = plan.rules[number].next
      if let object = plan.rules[number].object {
        let start = outcomes.lines.end
        for warning in writer.write(object, of: line, to: &outcomes.lines) { outcomes.warn(warning) }
        outcomes.addLine(from: start, rule: number, isToBeRead: plan.hasFaults)
      } else if case .leftOut(let reason) = map.rules[number].outcome {
        outcomes.leaveOut(reason)
      }
    }
    guard !isTaken else { return }
    switch map.otherwise {
    case .quarantine: outcomes.refuse(Rejection(reason: .noRule))
    case .leaveOut: outcomes.leaveOut(QuarantineReason.noRule.rawValue)
    }
  }
}
