import ArgumentParser
import BatchFoundation

/// A document that a command is asked about.
enum InputDocument {
  /// - Parameter path: of a file, or `-` for stdin; at most ``RegularFile/usuallyLargest`` bytes are taken.
  /// - Throws: the exit code for no input, after saying so.
  static func read(_ path: String) throws -> [UInt8] {
    do {
      return try RegularFile.read(path == "-" ? "/dev/stdin" : path, takesPipes: true)
    } catch {
      Streams.note("\(path.printable): error: \(error.reason)")
      throw ExitCode(.noInput)
    }
  }
}
