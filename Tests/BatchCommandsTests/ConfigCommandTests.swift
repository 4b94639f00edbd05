import ArgumentParser
import BatchConfiguration
import Testing

@testable import BatchCommands

@Suite struct ConfigCommandTests {
  @Test func takesRepeatedFilesAndSettings() throws {
    let command = try #require(
      try ConfigCommand.parseAsRoot(["show", "--file", "a.plist", "--file", "b.json", "--set", "Upload.concurrency=2"])
        as? ConfigShowCommand)
    #expect(command.source.file == ["a.plist", "b.json"])
    #expect(command.source.given.set == [SettingOverride("Upload.concurrency=2")])
    #expect(command.format == .text)
  }

  @Test(arguments: [
    (["show", "--job", "j", "--file", "f"], "Error: Give either a job or --file, not both."),
    (
      ["show", "--set", "Upload"],
      "Error: The value 'Upload' is invalid for '--set <Section.key=value>': write the section, the key and the value, as in Upload.concurrency=4"
    ),
    (["explain", "Sesion.x"], "Error: unknown section 'Sesion'; did you mean 'Session'?"),
    (["explain", "Session.x"], "Error: unknown key 'Session.x'; known keys of Session: sessionLifecycleExpiration"),
    (["explain", "maxNumRetry"], "Error: unknown key 'maxNumRetry'; did you mean 'maxNumRetries'?"),
    (["explain"], "Error: Missing expected argument '<key>'"),
  ])
  func refuses(arguments: [String], expected: String) {
    do {
      _ = try ConfigCommand.parseAsRoot(arguments)
      Issue.record("accepted")
    } catch {
      #expect(ConfigCommand.fullMessage(for: error).hasPrefix(expected + "\n"))
      #expect(ConfigCommand.exitCode(for: error) == .validationFailure)
    }
  }

  @Test(arguments: ["General.engageListId", "engageListId", "databaseListId", "Session"])
  func explainsBySpellingKeyOrSection(name: String) throws {
    #expect(try ConfigCommand.parseAsRoot(["explain", name]) is ConfigExplainCommand)
    #expect(SettingsSchema.current.settings(matching: name).count == 1)
  }
}
