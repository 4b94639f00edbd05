package import BatchFoundation
import Glibc

/// Reads configuration and job documents (reference formats 1). It detects from the content whether a document is a
/// property list or JSONC, which is JSON with comments and trailing commas.
enum DocumentReader {
  struct Failure: Error, Hashable {
    var line: Int?
    var problem: String
    var hint: String?

    init(line: Int? = nil, _ problem: String, hint: String? = nil) {
      self.line = line
      self.problem = problem
      self.hint = hint
    }
  }

  static func read(_ bytes: [UInt8]) throws(Failure) -> JSONNode {
    if bytes.starts(with: "bplist".utf8) { return try BinaryPropertyListReader.read(bytes) }
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) || bytes.prefix(4).contains(0) {
      throw Failure("the file is not UTF-8 text", hint: "save it as UTF-8")
    }
    if bytes.starts(with: "SQLite format 3\0".utf8) {
      throw Failure("the file is a SQLite database, perhaps a store", hint: "to use a store, name it with --store")
    }
    let mark = bytes.byteOrderMarkLength
    guard let first = bytes[mark...].firstIndex(where: { !$0.isASCIIWhitespace }) else {
      throw Failure("the file is empty")
    }
    if bytes[first] == UInt8(ascii: "<") { return try PropertyListReader.read(bytes, from: first) }
    if let line = openStepLine(bytes, first) {
      throw Failure(
        line: line, "the file is an OpenStep property list",
        hint: "convert it with 'plutil -convert xml1 FILE' (macOS) or write JSON")
    }
    if isYAML(bytes[first...]) {
      throw Failure("the file looks like YAML", hint: "write JSON; comments and trailing commas are allowed")
    }
    return try json(bytes)
  }

  /// Returns whether the text starts with a word and a colon, or with three dashes.
  private static func isYAML(_ bytes: ArraySlice<UInt8>) -> Bool {
    let rest = bytes.drop(while: isWordByte)
    return rest.first == UInt8(ascii: ":") || bytes.starts(with: "---".utf8)
  }

  private static func json(_ bytes: [UInt8]) throws(Failure) -> JSONNode {
    do {
      return try JSONNode.parse(bytes, options: [.duplicateKeys, .comments, .trailingCommas])
    } catch {
      let place = LineStarts(bytes).position(of: error.offset)
      var problem = "\(error.reason) (column \(place.column))"
      if case .syntax(let offset) = error { problem += ": \(JSONFault.words(bytes, at: offset))" }
      throw Failure(line: place.line, problem)
    }
  }

  /// Returns the line of the first token that only OpenStep lists have (an unquoted key, or `=` after a key); otherwise
  /// nil.
  private static func openStepLine(_ bytes: [UInt8], _ first: Int) -> Int? {
    guard bytes[first] == UInt8(ascii: "{") else { return nil }
    let start = bytes[(first + 1)...].drop(while: \.isASCIIWhitespace)
    let isQuoted = start.first == UInt8(ascii: "\"")
    let key = start.dropFirst(isQuoted ? 1 : 0).prefix { isQuoted ? $0 != UInt8(ascii: "\"") : isWordByte($0) }
    let after = bytes[key.endIndex...].dropFirst(isQuoted ? 1 : 0)
    let sign = after.drop(while: \.isASCIIWhitespace)
    guard sign.first == UInt8(ascii: "="), isQuoted || !key.isEmpty else { return nil }
    return LineStarts(bytes).position(of: isQuoted ? sign.startIndex : key.startIndex).line
  }

  private static func isWordByte(_ byte: UInt8) -> Bool { byte.isASCIILetterOrDigit || "_.-".utf8.contains(byte) }
}

/// Examines hand-written files: configurations, jobs and credential files.
package enum FileContents {
  static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  /// Returns whether users other than the owner may access the file. If root owns it, the group may read it, as for
  /// mounted secrets.
  package static func isOpenToOthers(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return false }
    return status.st_mode & (status.st_uid == 0 ? 0o037 : 0o077) != 0
  }
}

/// Reads documents of jobs and configurations, whether JSON or property lists.
extension JSONNode {
  /// The environment variables expanded in the value and in all nested values.
  var allVariables: [NamedVariable] {
    switch value {
    case .array(let elements): elements.flatMap(\.allVariables)
    case .object(let members): members.flatMap(\.value.allVariables)
    default: variables
    }
  }

  /// Reads a document in either format without expanding variables.
  ///
  /// - Parameter file: the absolute path; `source` is the name in messages.
  /// - Throws: the reason why the document cannot be read, with its line.
  static func load(_ file: String, source: String) throws(ConfigurationErrors) -> JSONNode {
    try read(bytes(of: file, source: source), source: source)
  }

  /// Returns the bytes of a document, for callers that keep a digest of them.
  ///
  /// - Throws: `ConfigurationErrors` if the file cannot be read.
  package static func bytes(
    of file: String, source: String, largest: Int = RegularFile.usuallyLargest
  ) throws(ConfigurationErrors) -> [UInt8] {
    do {
      return try RegularFile.read(file, largest: largest)
    } catch {
      throw ConfigurationErrors([ConfigurationFault(Place(source), error.reason)])
    }
  }

  /// - Throws: the reason why the document cannot be read, with its line.
  package static func read(_ bytes: [UInt8], source: String) throws(ConfigurationErrors) -> JSONNode {
    do {
      return try DocumentReader.read(bytes)
    } catch {
      throw ConfigurationErrors([ConfigurationFault(Place(source, line: error.line), error.problem, hint: error.hint)])
    }
  }
}
