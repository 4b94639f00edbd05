import ArgumentParser
import BatchFoundation

/// An input document of a command.
enum InputDocument {
  /// Reads a document.
  ///
  /// - Parameter path: The path of a file, or `-` for stdin; at most ``RegularFile/usuallyLargest`` bytes are read.
  /// - Throws: `ExitCode(.noInput)`, after printing the reason.
  static func read(_ path: String) throws -> [UInt8] {
    do {
      return try RegularFile.read(path == "-" ? "/dev/stdin" : path, takesPipes: true)
    } catch {
      Streams.note("\(path.printable): error: \(error.reason)")
      throw ExitCode(.noInput)
    }
  }
}
