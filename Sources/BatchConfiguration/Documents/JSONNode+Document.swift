package import BatchFoundation

/// What a job or a configuration asks of a document, whether it was JSON or a property list.
extension JSONNode {
  /// The variables of the value and of all within it.
  var allVariables: [NamedVariable] {
    switch value {
    case .array(let elements): elements.flatMap(\.allVariables)
    case .object(let members): members.flatMap(\.value.allVariables)
    default: variables
    }
  }

  /// The text as a boolean, where a variable stands in the place of one.
  var variableFlag: Bool? {
    guard !variables.isEmpty, case .string(let text) = value else { return nil }
    return text == "true" ? true : text == "false" ? false : nil
  }

  /// What a value is called in messages, in the words of both formats.
  package var documentKind: String {
    switch value {
    case .number(let text): Int64(text) == nil ? "a number" : "an integer"
    case .object: "a dictionary"
    default: kind
    }
  }

  /// Reads a document of either format as it is written.
  ///
  /// - Parameters:
  ///   - file: absolute.
  ///   - source: the file as messages name it.
  /// - Throws: why it cannot be read, with its line.
  static func load(_ file: String, source: String) throws(ConfigurationErrors) -> JSONNode {
    try read(bytes(of: file, source: source), source: source)
  }

  /// What a document is read from, for whoever keeps a digest of it.
  package static func bytes(of file: String, source: String) throws(ConfigurationErrors) -> [UInt8] {
    do {
      return try RegularFile.read(file)
    } catch {
      throw ConfigurationErrors([ConfigurationFault(Place(source), error.reason)])
    }
  }

  package static func read(_ bytes: [UInt8], source: String) throws(ConfigurationErrors) -> JSONNode {
    do {
      return try DocumentReader.read(bytes)
    } catch {
      throw ConfigurationErrors([ConfigurationFault(Place(source, line: error.line), error.problem, hint: error.hint)])
    }
  }
}
