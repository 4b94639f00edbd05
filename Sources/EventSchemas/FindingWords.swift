import BatchFoundation

/// Writes one-line descriptions of an event's findings, with the names in the schema that may have been meant.
package struct FindingWords {
  private let schema: EventSchema?
  /// The suggestions by event and path; an empty string if there is none. They are kept because an export usually
  /// repeats the same mistakes.
  private var meant: [[ByteText]: String] = [:]

  package init(_ schema: EventSchema?) { self.schema = schema }

  package mutating func words(_ findings: [EventFinding], ofEvent name: String) -> String {
    let words = findings.map { finding in
      let path = String(decoding: finding.path, as: UTF8.self)
      let near = nearest(finding, path, ofEvent: name)
      // The path of a finding about the whole event is empty.
      let place = path.isEmpty ? "" : " at \(path)"
      return "\(finding.id.rawValue)\(place)" + (near.isEmpty ? "" : " (\(NearestName.question(near)))")
    }.joined(separator: "; ")
    return Self.isShown(name) ? "event '\(name)': \(words)" : words
  }

  /// Returns whether the string looks like an event name. Any other string in an export may be personal, such as an
  /// address.
  private static func isShown(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= longest
      && name.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_- ".utf8.contains($0) }
  }

  private static let longest = 60
  private static let remembered = 1000

  private mutating func nearest(_ finding: EventFinding, _ path: String, ofEvent name: String) -> String {
    guard let schema, finding.id == .unknownEvent || finding.id == .unknownParameter else { return "" }
    let key = [ByteText(name), ByteText(path)]
    if let known = meant[key] { return known }
    if meant.count == Self.remembered { meant.removeAll() }
    let (wanted, candidates) =
      finding.id == .unknownEvent ? (name, schema.events.map(\.name)) : schema.siblings(of: path, inEvent: name)
    let near = wanted.utf8.count <= Self.longest ? NearestName.of(wanted, among: candidates) : nil
    meant[key] = near ?? ""
    return near ?? ""
  }
}

extension EventSchema {
  /// Returns the last name on a path into an event, and the names that the schema knows at that place.
  fileprivate func siblings(of path: String, inEvent name: String) -> (name: String, known: [String]) {
    let steps = path.split(separator: "/").dropFirst().map { step in
      String(step).replacing("~1", with: "/").replacing("~0", with: "~")
    }
    guard let last = steps.last, let event = events.first(where: { $0.name.isIdentical(to: name) }) else {
      return ("", [])
    }
    var known = event.parameters.map { $0 + commonParameters(besides: $0) } ?? []
    for step in steps.dropLast() {
      guard let value = known.first(where: { $0.name.isIdentical(to: step) })?.value else {
        // The index of an array element is skipped: `known` already has the parameters of the elements.
        if Int(step) != nil { continue }
        return (last, [])
      }
      known = value.parameters ?? value.items.first?.parameters ?? []
    }
    return (last, known.map(\.name))
  }
}
