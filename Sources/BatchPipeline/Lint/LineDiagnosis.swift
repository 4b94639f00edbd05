import BatchConfiguration
package import BatchFoundation
package import BatchIngest
import BatchMaps

/// The exact fault of a line, with a suggestion of what was meant.
///
/// It shows the names of fields. The only values shown are those of type and time fields, and only if they look like a
/// type or a time, because such values reveal nothing about a person.
package struct LineDiagnosis {
  private let line: QuarantinedLine
  private let dictionary: FieldDictionary

  package init(_ line: QuarantinedLine, _ dictionary: FieldDictionary) {
    self.line = line
    self.dictionary = dictionary
  }

  /// The detail to show: ``detail``, or the stored detail for an event or a line without content.
  package var shownDetail: String {
    if line.source != nil { return line.placedDetail }
    return line.raw.isEmpty || QuarantinedLine.event(at: line.file) != nil ? line.detail : detail
  }

  package var detail: String {
    if line.reason == .invalidJSON, let reason = link ?? otherDocument.map({ line.detail + $0 }) ?? syntax {
      return reason
    }
    guard let field else { return line.detail + (mappedQuestion ?? "") }
    switch line.reason {
    case .missingField: return missing(field)
    case .wrongType: return wrongType(field)
    case .unknownType: return unknownType(field)
    case .invalidTimestamp: return invalidTimestamp(field)
    default: return line.detail
    }
  }

  /// The field that the stored detail names; nil if it names none.
  private var field: String? {
    let (start, end) = ("field '", "'")
    guard line.detail.hasPrefix(start), line.detail.hasSuffix(end) else { return nil }
    let field = line.detail.dropFirst(start.count).dropLast(end.count)
    // A map's message about a foreign record is already complete.
    return field.contains(end) ? nil : String(field)
  }

  /// The syntax fault of the line's JSON, in words; nil if the JSON is valid or a map reported the fault.
  private var syntax: String? {
    // Any other detail is a map's report of the fault.
    guard line.detail.hasPrefix("at byte ") || line.detail.isEmpty else { return nil }
    do {
      _ = try JSONNode.parse(line.raw)
      return nil
    } catch {
      guard case .syntax(let offset) = error else { return nil }
      let words = JSONFault.words(ofRecord: line.raw, at: offset)
      return line.detail.isEmpty || words.hasPrefix("the line ends") ? words : "\(line.detail), \(words)"
    }
  }

  /// A suggestion if the unknown type was set by the map itself; otherwise nil.
  private var mappedQuestion: String? {
    guard line.reason == .unknownType, let field = line.detail.split(separator: "'").dropFirst().first,
      let known = dictionary.values[String(field)]
    else { return nil }
    return ForeignMap.valuesSet(in: line.detail).lazy.filter { !known.contains($0) }
      .compactMap { NearestName.question(about: $0, among: known) }.first.map { ", \($0)" }
  }

  /// A hint that the line is a link, not an object, and belongs to another kind of input; nil if it is not a link.
  private var link: String? {
    guard line.kind != .deepLinks, let text = String(validating: line.raw, as: UTF8.self),
      text.split(separator: "\t").last?.firstMatch(of: /^ *[A-Za-z][A-Za-z0-9+.\-]*:\/\//) != nil
    else { return nil }
    return "a link, not an object; list its file under 'deepLinks' in 'inputs'"
  }

  /// A hint that another document follows the line's object.
  private var otherDocument: String? {
    guard line.reason == .invalidJSON, let place = line.detail.split(separator: " ").compactMap({ Int($0) }).first,
      line.raw.indices.contains(place - 1), line.raw[place - 1] == UInt8(ascii: "{"),
      // If the document before it is incomplete, the line has a different fault.
      (try? JSONNode.parse(Array(line.raw[..<(place - 1)]))) != nil
    else { return nil }
    return #": another document begins there; a map with "form": "json" reads both"#
  }

  /// The JSON value of the line; nil if it is not JSON, such as a plain link or a truncated line.
  private var record: JSONNode? {
    // A line that is not JSON has a different fault, or is a plain link.
    try? JSONNode.parse(line.raw)
  }

  /// Returns the value at a path of member names and array indices; nil if absent.
  private func value(at steps: some Sequence<Substring>) -> JSONNode? {
    steps.reduce(record) { node, step in
      if let elements = node?.array { return Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil } }
      return node?[String(step)]
    }
  }

  private func missing(_ field: String) -> String {
    let steps = field.split(separator: "/")
    let name = String(steps.last ?? "")
    guard let holder = value(at: steps.dropLast()), let members = holder.members else {
      let form = "; a link needs a device and a time: TIME<TAB>DEVICE<TAB>URL, or a map such as samples/maps/links.json"
      return "\(line.detail) is missing" + (line.kind == .deepLinks ? form : "")
    }
    if holder[name]?.string?.isEmpty == true { return "\(line.detail) is empty" }
    let unknown = members.map(\.key).filter { steps.count > 1 || !dictionary.fields.contains($0) }
    guard let near = NearestName.of(name, among: unknown) else {
      let other = dictionary.alternatives[field].map { " or '\($0)'" } ?? ""
      return "\(line.detail)\(other) is missing"
    }
    let place = steps.count > 1 ? "'/\(steps.dropLast().joined(separator: "/"))'" : "the line"
    return "\(line.detail) is missing: \(place) has '\(shown(near))'; \(NearestName.question(name))"
  }

  private func wrongType(_ field: String) -> String {
    let steps = field.split(separator: "/")
    guard let value = value(at: steps) else { return "\(line.detail) has the wrong type" }
    let wanted = dictionary.kinds[String(steps.last ?? "")] ?? "of another type"
    guard value.kindInWords != wanted else { return "\(line.detail) contains a value of the wrong type" }
    return "\(line.detail) is \(value.kindInWords), but must be \(wanted)"
  }

  private func unknownType(_ field: String) -> String {
    let known = dictionary.values[field] ?? []
    guard let value = record?[field]?.scalar else { return line.detail }
    let given = ShownValue.isName(value) ? "\(line.detail): '\(value)'" : line.detail
    if let question = NearestName.question(about: value, among: known) { return "\(given), \(question)" }
    return known.isEmpty ? given : "\(given) is not one of \(known.joined(separator: ", "))"
  }

  private func invalidTimestamp(_ field: String) -> String {
    guard let text = record?[field]?.scalar, ShownValue.isTime(text) else {
      return "\(line.detail) is not a time; \(Self.times)"
    }
    return "\(line.detail): '\(text)' is not a time; \(Self.times)"
  }

  private static let times = "write 2026-01-15T08:00:00.000Z, 2026-01-15 08:00:00 in UTC, or seconds since 1970"

  private func shown(_ name: String) -> String { String(name.prefix(60)).printable }
}

extension JSONNode {
  fileprivate var kindInWords: String {
    switch value {
    case .bool: "true or false"
    case .string: "a string"
    default: kind
    }
  }
}
