package import BatchFoundation

package struct MissingFileError: RunError, Equatable, CustomStringConvertible {
  package var path: String
  /// The fault in words; nil if unknown.
  package var reason: String?

  package init(path: String, reason: String? = nil) {
    self.path = path
    self.reason = reason
  }

  package init(path: String, _ failure: RegularFile.Failure) {
    self.path = path
    if case .system = failure { return }
    reason = failure.reason
  }

  package var exit: RunExit { .configuration }

  package var description: String {
    "\(path.printable): error: the file cannot be read\(reason.map { " (\($0))" } ?? ""); check its path"
  }
}

package enum InputBytes {
  /// - Parameter largest: the maximum number of bytes accepted.
  /// - Throws: ``MissingFileError``.
  package static func read(_ path: String, largest: Int = RegularFile.usuallyLargest) throws -> [UInt8] {
    do {
      return try RegularFile.read(path, largest: largest)
    } catch {
      throw MissingFileError(path: path, error)
    }
  }
}
