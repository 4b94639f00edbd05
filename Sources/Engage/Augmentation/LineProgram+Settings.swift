package import BatchConfiguration
package import BatchFoundation

extension LineProgram.Command {
  /// `Augmentation.command`, which runs in the folder of the job; nil where there is none.
  ///
  /// - Throws: ``ConfigurationErrors`` for a program that cannot be found.
  package static func augmenting(
    _ job: Job, _ augmentation: Settings.Augmentation
  ) throws(ConfigurationErrors) -> LineProgram.Command? {
    guard let name = augmentation.command.first else { return nil }
    let command = LineProgram.Command(
      words: augmentation.command, folder: job.directory, timeout: augmentation.commandTimeout,
      variables: augmentation.commandVariables)
    guard command.isThere else {
      throw ConfigurationErrors([
        ConfigurationFault(
          Place(job.file, line: nil), "'Augmentation.command' names '\(name)', which is not a program that can be run",
          hint: "names without a slash are looked for in PATH, others from the folder of the job")
      ])
    }
    return command
  }
}
