package import BatchFoundation
import FoundationEssentials

/// A file that a job names cannot be read.
package struct MissingFileError: RunError, Equatable, CustomStringConvertible {
  package var path: String

  package init(path: String) { self.path = path }

  package var exit: RunExit { .configuration }

  package var description: String { "\(path.printable): error: the file cannot be read; check its path" }
}

/// Small files that a job names.
package enum InputBytes {
  /// - Throws: ``MissingFileError``.
  package static func read(_ path: String) throws -> [UInt8] {
    do {
      return Array(try Data(contentsOf: URL(filePath: path)))
    } catch {
      throw MissingFileError(path: path)
    }
  }
}
