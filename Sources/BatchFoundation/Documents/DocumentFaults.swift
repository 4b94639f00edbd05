/// The faults found in one hand-written document.
package final class DocumentFaults {
  /// The name of the document in messages.
  package let source: String
  /// Whether other programs also read the document. If so, unknown keys are ignored, the last value of a
  /// repeated key counts (with a warning), and places have columns.
  let isForeign: Bool
  private var found: [ConfigurationFault] = []

  /// The maximum number of faults shown; the rest are only counted.
  package static let most = 200

  package init(_ source: String, isForeign: Bool = false) { (self.source, self.isForeign) = (source, isForeign) }

  /// All faults, ordered by their place in the document.
  package var all: [ConfigurationFault] {
    found.sorted { ($0.place.line ?? 0, $0.place.column ?? 0) < ($1.place.line ?? 0, $1.place.column ?? 0) }
  }

  package var hasErrors: Bool { found.contains { $0.severity == .error } }

  /// Whether to look for suggestions; a fault beyond ``most`` is not shown and needs none.
  package var isLookedFor: Bool { found.count < Self.most }

  /// - Parameter place: nil for the document as a whole.
  package func add(
    _ place: TextPlace?, _ severity: ConfigurationFault.Severity, _ problem: String, hint: String? = nil
  ) {
    let place = isForeign ? place ?? TextPlace(line: 1) : place
    found.append(
      ConfigurationFault(
        Place(source, line: place?.line, column: isForeign ? place?.column : nil), severity, problem, hint: hint))
  }

  package func add(_ place: TextPlace?, _ problem: String, hint: String? = nil) {
    add(place, .error, problem, hint: hint)
  }

  package func warn(_ place: TextPlace?, _ problem: String) { add(place, .warning, problem) }

  /// Parses a JSON document; if it is invalid, adds a fault and returns nil.
  package func json(_ bytes: [UInt8]) -> JSONNode? {
    do {
      return try JSONNode.parse(bytes)
    } catch {
      add(LineStarts(bytes).position(of: error.offset), error.reason)
      return nil
    }
  }

  /// - Throws: all errors, if there are any; warnings and notes are left out.
  package func throwErrors() throws(FileError) {
    if hasErrors { throw FileError(all.filter { $0.severity == .error }) }
  }
}
