import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline

/// Ids on the command line; `@` followed by a file of ids, one per line, keeps them out of the list of processes.
enum NamedIDs {
  /// Returns the files of ids that the arguments name.
  static func files(of arguments: [String]) -> [OutputConflict.Use] {
    arguments.filter { $0.utf8.first == UInt8(ascii: "@") }
      .map { OutputConflict.Use("the file of ids", String($0.dropFirst())) }
  }

  /// - Throws: ``MissingFileError``.
  static func ids(of argument: String) throws -> [String] {
    guard argument.utf8.first == UInt8(ascii: "@") else { return [argument] }
    let path = String(argument.dropFirst())
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.read(path, largest: 256 << 20, takesPipes: true)
    } catch {
      throw MissingFileError(path: path, error)
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
  }
}

extension Instant {
  /// Parses a time for the `transform` of an option: RFC 3339; a day such as `2026-01-31`, meaning its first instant in
  /// UTC; or a value of a job's window, such as `yesterday` or `today-P7D`, by the clock and the calendar of UTC.
  @Sendable static func argument(_ text: String) throws(ValidationError) -> Instant {
    try argument(text, at: .now)
  }

  /// - Parameter now: The reference time for relative values.
  static func argument(_ text: String, at now: Instant) throws(ValidationError) -> Instant {
    if let instant = RelativeWindow.instant(text, at: now) { return instant }
    throw ValidationError(
      CivilTime.isImpossibleDay(text)
        ? "there is no such day"
        : "write a time as 2026-01-31T08:00:00Z, a day as 2026-01-31, or words as yesterday or today-P7D")
  }
}

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
