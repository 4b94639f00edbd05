/// An unusable hand-written file, with everything that is wrong with it.
package struct FileError: RunError, Hashable, Sendable, CustomStringConvertible {
  package var faults: [FileNote]

  package init(faults: [FileNote]) { self.faults = faults }

  package var exit: RunExit { .configuration }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// A reader of hand-written JSON that collects all flaws before it gives up.
package protocol NotingReader {
  var bytes: [UInt8] { get }
  /// The file name as given by the caller.
  var name: String { get }
  /// Flaws that do not prevent the use of the file.
  var notes: [FileNote] { get set }
  /// Flaws that make the file unusable.
  var faults: [FileNote] { get set }
}

extension NotingReader {
  package mutating func warn(_ place: TextPlace?, _ message: String) { note(.warning, place, message) }

  package mutating func fail(_ place: TextPlace?, _ message: String) { note(.error, place, message) }

  /// - Parameter place: nil for the file as a whole.
  package mutating func note(_ severity: FileNote.Severity, _ place: TextPlace?, _ message: String) {
    let note = FileNote(file: name, place: place ?? TextPlace(line: 1), severity: severity, message: message)
    if severity == .error { faults.append(note) } else { notes.append(note) }
  }

  /// Creates the error for a fault that ends reading.
  package func error(_ place: TextPlace?, _ message: String) -> FileError {
    FileError(faults: [
      FileNote(file: name, place: place ?? TextPlace(line: 1), severity: .error, message: message)
    ])
  }

  package func error(_ error: JSONError) -> FileError {
    self.error(LineStarts(bytes).position(of: error.offset), error.reason)
  }

  /// Returns the elements of an array; nil for another value, which is a fault, or with a consequence only a warning.
  ///
  /// - Parameter subject: the value in words.
  package mutating func array(_ node: JSONNode, _ subject: String, otherwise consequence: String? = nil) -> [JSONNode]?
  {
    if node.array == nil { note(node, "\(subject) is \(node.kind), not an array", consequence) }
    return node.array
  }

  /// Returns whether it is an object; another value is a fault, or with a consequence only a warning.
  package mutating func isObject(_ node: JSONNode, _ subject: String, otherwise consequence: String? = nil) -> Bool {
    if node.members == nil { note(node, "\(subject) is \(node.kind), not an object", consequence) }
    return node.members != nil
  }

  private mutating func note(_ node: JSONNode, _ message: String, _ consequence: String?) {
    if let consequence { warn(node.place, "\(message); \(consequence)") } else { fail(node.place, message) }
  }
}
