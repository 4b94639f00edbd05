package import BatchFoundation

/// Access to documents of jobs and configurations, whether JSON or property lists.
extension JSONNode {
  /// The variables of the value and of all nested ones.
  var allVariables: [NamedVariable] {
    switch value {
    case .array(let elements): elements.flatMap(\.allVariables)
    case .object(let members): members.flatMap(\.value.allVariables)
    default: variables
    }
  }

  /// Reads a document of either format without expanding variables.
  ///
  /// - Parameter file: the absolute path; `source` is the name in messages.
  /// - Throws: the reason it cannot be read, with its line.
  static func load(_ file: String, source: String) throws(ConfigurationErrors) -> JSONNode {
    try read(bytes(of: file, source: source), source: source)
  }

  /// Returns the bytes of a document, for callers that keep a digest of them.
  ///
  /// - Throws: `ConfigurationErrors` if the file cannot be read.
  package static func bytes(of file: String, source: String) throws(ConfigurationErrors) -> [UInt8] {
    do {
      return try RegularFile.read(file)
    } catch {
      throw ConfigurationErrors([ConfigurationFault(Place(source), error.reason)])
    }
  }

  /// - Throws: the reason it cannot be read, with its line.
  package static func read(_ bytes: [UInt8], source: String) throws(ConfigurationErrors) -> JSONNode {
    do {
      return try DocumentReader.read(bytes)
    } catch {
      throw ConfigurationErrors([ConfigurationFault(Place(source, line: error.line), error.problem, hint: error.hint)])
    }
  }
}
