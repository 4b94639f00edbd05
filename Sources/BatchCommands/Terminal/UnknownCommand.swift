import ArgumentParser
import BatchConfiguration
import BatchFoundation

/// An unknown word in place of a command, usually a typing error.
struct UnknownCommand: Equatable, CustomStringConvertible {
  var word: String
  /// The commands before it, such as `store`.
  var path: [String]
  var nearest: String?

  /// Returns nil if the arguments name a command or request help.
  static func find(_ arguments: [String], below root: any ParsableCommand.Type) -> UnknownCommand? {
    var command = root
    var path: [String] = []
    for word in arguments {
      let subcommands = command.configuration.subcommands
      guard !subcommands.isEmpty, word.utf8.first != UInt8(ascii: "-"), word != "help" else { return nil }
      guard let next = subcommands.first(where: { $0._commandName == word }) else {
        let inner = subcommands.first { $0.configuration.subcommands.contains { $0._commandName == word } }
        let nearest = NearestName.of(word, among: subcommands.map { $0._commandName })
        return UnknownCommand(word: word, path: path, nearest: inner.map { "\($0._commandName) \(word)" } ?? nearest)
      }
      command = next
      path.append(word)
    }
    return nil
  }

  var description: String {
    let help = (["engage-batch", "help"] + path).joined(separator: " ")
    let hint = nearest.map { NearestName.question($0) + " " } ?? ""
    return "error: '\(word.printable)' is not a command of '\((["engage-batch"] + path).joined(separator: " "))'; "
      + "\(hint)'\(help)' lists them"
  }
}
