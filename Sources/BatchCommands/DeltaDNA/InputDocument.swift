import ArgumentParser
import BatchFoundation

/// An input document of a command.
enum InputDocument {
  /// Reads at most ``RegularFile/usuallyLargest`` bytes of a file, or of stdin for `-`.
  ///
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
