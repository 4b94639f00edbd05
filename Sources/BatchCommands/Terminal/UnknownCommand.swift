import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline

extension ParsableCommand {
  /// Returns the innermost command that the first words name, and these words.
  static func innermost(named words: [String]) -> (command: any ParsableCommand.Type, path: [String]) {
    var command: any ParsableCommand.Type = self
    let path = words.prefix { word in
      guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { return false }
      command = next
      return true
    }
    return (command, Array(path))
  }
}

/// An unknown word where a command is expected, usually a typo.
struct UnknownCommand: Equatable, CustomStringConvertible {
  var word: String
  /// The commands before it, such as `store`.
  var path: [String]
  var nearest: String?

  /// Returns nil if the arguments name a command or request help.
  static func find(_ arguments: [String], below root: any ParsableCommand.Type) -> UnknownCommand? {
    let (command, path) = root.innermost(named: arguments)
    let subcommands = command.configuration.subcommands
    guard let word = arguments.dropFirst(path.count).first, !subcommands.isEmpty,
      word.utf8.first != UInt8(ascii: "-"), word != "help"
    else { return nil }
    let inner = subcommands.first { $0.configuration.subcommands.contains { $0._commandName == word } }
    let nearest = NearestName.of(word, among: subcommands.map { $0._commandName })
    return UnknownCommand(word: word, path: path, nearest: inner.map { "\($0._commandName) \(word)" } ?? nearest)
  }

  var description: String {
    let help = (["engage-batch", "help"] + path).joined(separator: " ")
    let hint = nearest.map { NearestName.question($0) + " " } ?? ""
    return "error: '\(word.printable)' is not a command of '\((["engage-batch"] + path).joined(separator: " "))'; "
      + "\(hint)'\(help)' lists the commands"
  }
}

/// An option that does not occur in the help of its command.
struct UnknownOption: Equatable, CustomStringConvertible {
  var name: String
  var path: [String]
  var nearest: String?

  /// Returns the first unknown option; nil if all are known.
  static func find(_ arguments: [String], below root: any ParsableCommand.Type) -> UnknownOption? {
    let (command, path) = root.innermost(named: arguments)
    let help = EngageBatch.helpMessage(for: command)
    let known = Set(help.matches(of: /--[a-z][a-z0-9-]*/).map { String($0.output) }).union(["--help", "--version"])
    for word in arguments.prefix(while: { $0 != "--" })
    where word.wholeMatch(of: /--[a-zA-Z][a-zA-Z0-9-]*(=.*)?/) != nil {
      let name = String(word.prefix { $0 != "=" })
      if known.contains(name) { continue }
      return UnknownOption(name: name, path: path, nearest: NearestName.of(name, among: known.sorted()))
    }
    return nil
  }

  var description: String {
    let command = (["engage-batch"] + path).joined(separator: " ")
    return "Error: Unknown option '\(name.printable)' of '\(command)'; "
      + (nearest.map { NearestName.question($0) } ?? "'\(command) --help' lists the options")
  }
}

/// Ids on the command line. `@` followed by a file of ids, one per line, keeps the ids out of the process list.
enum NamedIDs {
  static func files(of arguments: [String]) -> [FileUse] {
    arguments.filter { $0.utf8.first == UInt8(ascii: "@") }
      .map { FileUse("the file that lists the ids", String($0.dropFirst())) }
  }

  /// - Throws: ``CommandError``.
  static func ids(of argument: String) throws -> [String] {
    guard argument.utf8.first == UInt8(ascii: "@") else { return [argument] }
    let bytes = try InputBytes.read(String(argument.dropFirst()), largest: 256 << 20, takesPipes: true)
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
  }
}

extension Instant {
  /// Parses a time for the `transform` of an option: RFC 3339; a day such as `2026-01-31`, meaning its first instant in
  /// UTC; or a value of a job's window, such as `yesterday` or `today-P7D`, in the UTC calendar.
  @Sendable static func argument(_ text: String) throws(ValidationError) -> Instant {
    try argument(text, at: .now)
  }

  /// - Parameter now: The reference time for relative values.
  static func argument(_ text: String, at now: Instant) throws(ValidationError) -> Instant {
    if let instant = RelativeWindow.instant(text, at: now) { return instant }
    throw ValidationError(
      CivilTime.isImpossibleDay(text)
        ? "there is no such date"
        : "write a time as 2026-01-31T08:00:00Z, a day as 2026-01-31, or words such as yesterday or today-P7D")
  }
}

enum InputDocument {
  /// Reads up to ``RegularFile/usuallyLargest`` bytes of a file, or of stdin for `-`.
  ///
  /// - Throws: ``CommandError``.
  static func read(_ path: String) throws -> [UInt8] {
    do {
      return try RegularFile.read(path == "-" ? "/dev/stdin" : path, takesPipes: true)
    } catch {
      throw CommandError(.noInput, "\(path.printable): error: \(error.reason)")
    }
  }
}
