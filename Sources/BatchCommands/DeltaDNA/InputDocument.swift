import ArgumentParser
import BatchFoundation
import FoundationEssentials
import Glibc

/// A document that a command is asked about.
enum InputDocument {
  /// - Parameter path: of a file, or `-` for stdin.
  /// - Throws: the exit code for no input, after saying so.
  static func read(_ path: String) throws -> [UInt8] {
    do {
      return path == "-" ? try readStandardInput() : Array(try Data(contentsOf: URL(filePath: path)))
    } catch {
      Streams.note("\(path.printable): error: the file cannot be read; check its path")
      throw ExitCode(.noInput)
    }
  }

  private struct ReadError: Error {}

  private static func readStandardInput() throws -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe Glibc.read(STDIN_FILENO, &piece, piece.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw ReadError()
      }
      bytes += piece[..<count]
    }
  }
}
