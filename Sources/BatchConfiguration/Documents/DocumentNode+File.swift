import BatchFoundation

extension DocumentNode {
  /// Reads a document of either format that is neither a job nor a configuration.
  ///
  /// - Parameters:
  ///   - file: absolute.
  ///   - source: the file as messages name it.
  /// - Throws: why it cannot be read, with its line.
  package static func load(_ file: String, source: String) throws(ConfigurationErrors) -> DocumentNode {
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

  package static func read(_ bytes: [UInt8], source: String) throws(ConfigurationErrors) -> DocumentNode {
    do {
      return try DocumentReader.read(bytes)
    } catch {
      throw ConfigurationErrors([ConfigurationFault(Place(source, line: error.line), error.problem, hint: error.hint)])
    }
  }
}
