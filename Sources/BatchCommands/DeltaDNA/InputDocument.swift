import ArgumentParser
import BatchFoundation
import Glibc

/// A document that a command is asked about.
enum InputDocument {
  /// - Parameter path: of a file, or `-` for stdin.
  /// - Throws: the exit code for no input, after saying so.
  static func read(_ path: String) throws -> [UInt8] {
    do {
      return path == "-" ? try FileDescriptor.readAll(STDIN_FILENO) : try RegularFile.read(path, takesPipes: true)
    } catch {
      Streams.note("\(path.printable): error: the file cannot be read; check its path")
      throw ExitCode(.noInput)
    }
  }
}
