package import BatchFoundation

/// A file that a job names cannot be read.
package struct MissingFileError: RunError, Equatable, CustomStringConvertible {
  package var path: String
  /// What is wrong with it, in words; nil where that is not known.
  package var reason: String?

  package init(path: String, reason: String? = nil) {
    self.path = path
    self.reason = reason
  }

  package var exit: RunExit { .configuration }

  package var description: String {
    "\(path.printable): error: the file cannot be read\(reason.map { " (\($0))" } ?? ""); check its path"
  }
}

/// Small files that a job names.
package enum InputBytes {
  /// - Throws: ``MissingFileError``.
  package static func read(_ path: String) throws -> [UInt8] {
    do {
      return try RegularFile.read(path)
    } catch {
      if case .notAFile = error { throw MissingFileError(path: path, reason: error.reason) }
      throw MissingFileError(path: path)
    }
  }
}
