package import ArgumentParser
import EngageModel
import EngagePipeline

/// `engage-batch run`: the main job, or with `--dry-run` everything of it that changes nothing.
package struct RunCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Read the inputs of a job, keep its events, reconcile identities and send what is due.")

  @OptionGroup var job: JobOptions
  @OptionGroup var output: OutputOptions

  @Flag(help: "Open no connection and change nothing; print what would happen.")
  var dryRun = false

  @Flag(help: "Run against a sandbox inside the process; no account is needed.")
  var sandbox = false

  @Flag(name: .customLong("no-upload"), help: "Stop when everything is in the store.")
  var skipsUpload = false

  package init() {}

  package func run() throws {
    try RunSession(output, usesSandbox: sandbox && !dryRun && !skipsUpload).run { now in
      var request = RunRequest(loaded: try job.load(), now: now)
      request.isDryRun = dryRun
      request.skipsUpload = skipsUpload
      return request
    }
  }
}

/// `engage-batch validate`: a dry run that fails if anything was set aside.
package struct ValidateCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "validate",
    abstract: "Read and decide everything, change nothing, and exit with 65 if any line was set aside.")

  @OptionGroup var job: JobOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run() throws {
    try RunSession(output).run { now in
      var request = RunRequest(loaded: try job.load(), now: now)
      request.isDryRun = true
      request.isValidation = true
      request.maxQuarantine = 0
      return request
    }
  }
}

/// `engage-batch post`: the SDKs' postEventCache.
package struct PostCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Send what the store of a job holds, without reading its inputs.")

  @OptionGroup var job: JobOptions
  @OptionGroup var output: OutputOptions

  @Flag(help: "Send to a sandbox inside the process; no account is needed.")
  var sandbox = false

  package init() {}

  package func run() throws {
    try RunSession(output, usesSandbox: sandbox).run { now in
      var request = RunRequest(loaded: try job.load(), now: now)
      request.skipsInputs = true
      return request
    }
  }
}
