import ArgumentParser
import Testing

@testable import BatchCommands

@Suite struct ExampleTests {
  /// The words of every command that runs something.
  private static func leaves(_ command: any ParsableCommand.Type, _ words: [String] = []) -> [String] {
    let subcommands = command.configuration.subcommands
    if subcommands.isEmpty { return [words.joined(separator: " ")] }
    return subcommands.flatMap { leaves($0, words + [$0._commandName]) }
  }

  @Test func everyCommandHasAnExample() {
    let leaves = Self.leaves(EngageBatch.self)
    #expect(leaves.filter { Examples.byCommand[$0] == nil } == [])
  }

  @Test(arguments: leaves(EngageBatch.self).compactMap { words in Examples.byCommand[words].map { (words, $0) } })
  func everyExampleIsACommandLine(words: String, example: String) throws {
    #expect(example.hasPrefix(words))
    var arguments: [String] = []
    for (index, part) in example.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
      if index.isMultiple(of: 2) {
        arguments += part.split(separator: " ").map(String.init)
      } else {
        arguments.append(String(part))
      }
    }
    _ = try EngageBatch.parseAsRoot(arguments)
  }

  @Test func helpIsFollowedByTheExample() {
    let example = "EXAMPLE: engage-batch store status jobs/nightly.json"
    #expect(Examples.asked(by: ["store", "status", "--help"], below: EngageBatch.self) == example)
    #expect(Examples.asked(by: ["help", "store", "status"], below: EngageBatch.self) == example)
    #expect(Examples.asked(by: ["store", "--help"], below: EngageBatch.self) == nil)
  }
}
